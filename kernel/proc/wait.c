/* wait4: finding a child that has exited, and freeing it. */
#include "proc/wait.h"
#include "errno.h"
#include "internal.h"
#include "proc/rusage.h"

static bool wanted(const struct task_struct *child, int pid)
{
	if (pid > 0)
		return child->pid == pid;
	if (pid == -1)
		return true;
	return child->pgid == (pid ? -pid : current->pgid);
}

/* Returns a zombie or NULL. Sets *any if there is a child to wait for. */
static struct task_struct *find_zombie(int pid, bool *any)
{
	struct task_struct *child;

	*any = false;
	list_for_each_entry(child, &current->children, sibling) {
		if (!wanted(child, pid))
			continue;
		*any = true;
		if (child->state == TASK_ZOMBIE)
			return child;
	}
	return NULL;
}

int wait_find(int pid, u32 options, struct task_struct **child)
{
	bool any;
	int err;

	if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | WAIT_ALL_KINDS))
		return -EINVAL;
	if (pid == INT32_MIN) /* its negative does not fit in an int */
		return -ESRCH;
	*child = find_zombie(pid, &any);
	if (*child || (any && options & WNOHANG))
		return 0;
	if (!any)
		return -ECHILD;
	err = wait_event_interruptible(&current->child_wait,
				       (*child = find_zombie(pid, &any)) || !any);
	if (err)
		return err;
	return any ? 0 : -ECHILD;
}

void wait_reap(struct task_struct *child)
{
	struct task_struct *t = current;

	t->child_utime_ns += task_utime_ns(child) + child->child_utime_ns;
	t->child_stime_ns += task_stime_ns(child) + child->child_stime_ns;
	t->child_minflt += child->nr_minflt + child->child_minflt;
	t->child_majflt += child->nr_majflt + child->child_majflt;
	t->child_max_rss = MAX(t->child_max_rss, MAX(child->max_rss, child->child_max_rss));
	task_free(child);
}
