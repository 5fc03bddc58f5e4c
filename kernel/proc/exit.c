/*
 * The end of a task.
 *
 * do_exit frees all that a dead task does not need and hands its children to init. The rest is a
 * zombie that holds its exit code and times until the parent calls wait4 (wait.c). If the parent
 * ignores SIGCHLD, nothing is kept.
 */
#include "fs/files.h"
#include "internal.h"
#include "lib/assert.h"
#include "mm/mm.h"
#include "observe/events.h"

#define SA_NOCLDWAIT 2u

static void release_files(struct task_struct *t)
{
	if (t->files)
		files_destroy(t->files);
	if (t->cwd)
		inode_put(t->cwd);
	if (t->root)
		inode_put(t->root);
	t->files = NULL;
	t->cwd = t->root = NULL;
}

static void release_memory(struct task_struct *t)
{
	struct mm_struct *mm = t->mm;

	if (!mm)
		return;
	event_exit(t);
	t->max_rss = mm->count.max_rss;
	t->mm = NULL;
	t->pgd = NULL;
	mm_destroy(mm);
}

static void reparent_children(struct task_struct *t)
{
	struct task_struct *child;
	bool zombies = false;

	if (list_empty(&t->children))
		return;
	list_for_each_entry(child, &t->children, sibling) {
		child->parent = init_process;
		zombies |= child->state == TASK_ZOMBIE;
	}
	list_splice_tail_init(&t->children, &init_process->children);
	if (zombies) {
		signal_send(init_process, SIGCHLD);
		wake_up(&init_process->child_wait);
	}
}

static bool parent_wants_to_know(const struct task_struct *t)
{
	const struct k_sigaction *sa;

	if (!t->parent)
		return false;
	sa = &t->parent->sig.hand->actions[SIGCHLD - 1];
	return sa->handler != SIG_IGN && !(sa->flags & SA_NOCLDWAIT);
}

static void bury(struct task_struct *t)
{
	bool zombie = parent_wants_to_know(t);

	t->state = zombie ? TASK_ZOMBIE : TASK_DEAD;
	if (!zombie) {
		list_del_init(&t->sibling);
		list_add_tail(&t->sibling, &dead_tasks);
	}
	if (t->parent) {
		signal_parent(t);
		wake_up(&t->parent->child_wait);
	}
}

void __noreturn do_exit(int code)
{
	struct task_struct *t = current;

	if (t == init_process)
		panic("init died: %s %d", code & 0x7f ? "signal" : "exit code",
		      code & 0x7f ? code & 0x7f : code >> 8 & 0xff);
	t->flags |= TF_EXITING;
	t->exit_code = code;
	timer_stop(&t->alarm);
	release_memory(t);
	release_files(t);
	sighand_free(t->sig.hand);
	t->sig.hand = NULL;
	reparent_children(t);
	bury(t);
	schedule();
	panic("a dead task runs");
}
