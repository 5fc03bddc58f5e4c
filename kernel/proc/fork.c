/*
 * fork: a child that is a copy of its parent, memory copied on write.
 *
 * The number of tasks is bounded, so that a fork bomb gets EAGAIN long before memory is used up.
 * The last few places are for init and the shell that it started, so that a user at the console can
 * still run a program that ends the bomb.
 */
#include "arch/time.h"
#include "errno.h"
#include "fs/files.h"
#include "internal.h"
#include "lib/jitter.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "observe/events.h"

#define RESERVED_TASKS 4u
#define START_JITTER_NS 1000000u

static bool too_many_tasks(void)
{
	bool console = current == init_process ||
		       (current->parent == init_process && current->pid == current->pgid);

	return nr_tasks() + (console ? 0 : RESERVED_TASKS) >= max_threads;
}

/* Copies the parent's state and its address space. On failure, task_free frees what has been
 * copied. */
static int copy_process(struct task_struct *child, u32 sp)
{
	struct task_struct *parent = current;

	child->pgid = parent->pgid;
	child->sid = parent->sid;
	child->umask = parent->umask;
	memcpy(child->limits, parent->limits, sizeof(child->limits));
	child->cred = parent->cred;
	child->sig.blocked = parent->sig.blocked;
	child->sig.altstack = parent->sig.altstack;
	sched_fork(child);
	child->sig.hand = sighand_alloc();
	child->files = files_fork(parent->files);
	if (!child->sig.hand || !child->files)
		return -ENOMEM;
	memcpy(child->sig.hand->actions, parent->sig.hand->actions,
	       sizeof(child->sig.hand->actions));
	child->cwd = parent->cwd;
	if (child->cwd)
		inode_get(child->cwd);
	child->root = parent->root;
	if (child->root)
		inode_get(child->root);
	if (!mm_fork(child))
		return -ENOMEM;
	return thread_init_fork(child, parent, sp);
}

static void spend_jitter(void)
{
	u64 until = clock_ns() + jitter_below(START_JITTER_NS);

	while (clock_ns() < until)
		;
}

int do_fork(u32 child_sp, u32 *child_tid_set)
{
	struct task_struct *child;
	int err;

	if (too_many_tasks())
		return -EAGAIN;
	child = task_alloc(current->comm);
	if (!child)
		return -ENOMEM;
	err = copy_process(child, child_sp);
	if (err) {
		task_free(child);
		return err;
	}
	child->parent = current;
	task_publish(child, 0);
	list_add_tail(&child->sibling, &current->children);
	/* As on Linux, a bad address does not fail the fork; the pid is just not stored. */
	if (child_tid_set)
		mm_write(child->mm, (u32)child_tid_set, &child->pid, sizeof(child->pid));
	event_new_mm(child);
	if (jitter)
		spend_jitter();
	sched_start(child);
	return child->pid;
}
