/*
 * The gate between changes of files and commits of a log.
 *
 * A log makes each system call's changes of metadata atomic: it copies all dirty blocks at a moment at
 * which no change is half done. So a task that changes files is inside the gate meanwhile, and a
 * commit closes the gate, waits until no task is inside, and opens it at the end.
 *
 * There is one gate for all disks: a task that writes to a file of one disk may fault in a page of another
 * disk's file, and is inside for both. Two gates could be closed by two tasks that wait for each other.
 *
 * A task inside may enter again: the write that faults is one case, the removal of a name that frees the
 * file another. The task that closes the gate counts as inside, too: writing the inodes of a commit may
 * drop the last reference to one of them, which frees it.
 *
 * Lock order. A task waits at the gate with no lock that a task inside may wait for:
 *
 *	regular file's inode->lock, mm->lock -> gate -> locks of directories, of pages, and the file system's
 *
 * So the gate is entered before a directory or a page is locked. A task inside does not wait until data
 * are written in the background either (writeback_throttle): the flusher may be waiting at the gate.
 * It may wait for memory: a log bounds the dirty metadata, so that reclaim never needs a commit.
 */
#include "fs/gate.h"

#include "lib/assert.h"
#include "sched/current.h"
#include "sched/wait.h"

static struct task_struct *closed_by;
static u32 nr_inside;
static WAIT_QUEUE(gate_wait);

bool gate_is_mine(void)
{
	return current->nr_changes || closed_by == current;
}

u32 gate_nr_inside(void)
{
	return nr_inside;
}

void gate_enter(void)
{
	if (!gate_is_mine()) {
		wait_event(&gate_wait, !closed_by);
		nr_inside++;
	}
	current->nr_changes++;
}

void gate_leave(void)
{
	ASSERT(current->nr_changes);
	if (--current->nr_changes || closed_by == current)
		return;
	nr_inside--;
	wake_up(&gate_wait);
}

void gate_close(void)
{
	ASSERT(!gate_is_mine());
	wait_event(&gate_wait, !closed_by);
	closed_by = current;
	wait_event(&gate_wait, !nr_inside);
}

void gate_open(void)
{
	ASSERT(closed_by == current);
	closed_by = NULL;
	wake_up(&gate_wait);
}
