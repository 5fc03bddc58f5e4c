/*
 * poll: one wait queue for all files. A change of any file wakes every poller, which checks its own
 * files again. With the few pollers of this system that costs less than a queue per file.
 */
#include "arch/time.h"
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/vfs.h"
#include "sched/current.h"
#include "sched/timer.h"

struct pollfd {
	s32 fd;
	u16 events, revents;
};

struct poll_timer {
	struct timer timer;
	volatile bool due;
};

static void poll_timer_due(struct timer *t)
{
	container_of(t, struct poll_timer, timer)->due = true;
	wake_up(&poll_wait);
}

/* Returns the number of descriptors with events to report. */
static int scan(struct pollfd *p, u32 n)
{
	int ready = 0;

	for (; n; n--, p++) {
		struct file *f = p->fd < 0 ? NULL : fd_file(p->fd);

		p->revents = 0;
		if (f)
			p->revents = file_poll(f) & (p->events | POLLERR | POLLHUP);
		else if (p->fd >= 0)
			p->revents = POLLNVAL;
		ready += p->revents != 0;
	}
	return ready;
}

static int poll_wait_for(struct pollfd *p, u32 n, s32 timeout_ms)
{
	struct poll_timer t = { .due = false };
	int ready = scan(p, n), err;

	if (ready || !timeout_ms)
		return ready;
	timer_setup(&t.timer, poll_timer_due, false);
	if (timeout_ms > 0)
		timer_start(&t.timer, clock_ns() + timeout_ms * 1000000ull);
	err = wait_event_interruptible(&poll_wait, (ready = scan(p, n)) || t.due);
	timer_stop(&t.timer);
	return err ? -EINTR : ready;
}

long sys_poll(struct pollfd *user, u32 n, s32 timeout_ms)
{
	struct pollfd p[NR_OPEN];
	int ready;

	if (n > NR_OPEN)
		return -EINVAL;
	if (copy_from_user(p, user, n * sizeof(*p)))
		return -EFAULT;
	ready = poll_wait_for(p, n, timeout_ms);
	if (ready >= 0 && copy_to_user(user, p, n * sizeof(*p)))
		return -EFAULT;
	return ready;
}
