/*
 * Waiting for files: poll, and what it shares with select: a time limit, and a signal mask for the
 * time of the call.
 *
 * One wait queue serves all files. A change of any file wakes every waiting task, which checks its
 * own files again. With the few waiting tasks of this system that costs less than a queue per file.
 *
 * As on Linux, select and the calls with a mask write back the time left.
 */
#include "arch/time.h"
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"
#include "internal.h"
#include "mm/slab.h"
#include "poll.h"
#include "proc/signal.h"
#include "sched/current.h"
#include "sched/timer.h"

#define NSEC 1000000000ll

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

int poll_wait_for(struct pollfd *p, u32 n, s64 timeout_ns)
{
	struct poll_timer t = { .due = false };
	int ready = scan(p, n), err;

	if (ready || !timeout_ns)
		return ready;
	timer_setup(&t.timer, poll_timer_due, false);
	if (timeout_ns > 0)
		timer_start(&t.timer, clock_ns() + timeout_ns);
	err = wait_event_interruptible(&poll_wait, (ready = scan(p, n)) || t.due);
	timer_stop(&t.timer);
	return err ? -EINTR : ready;
}

struct pollfd *poll_array_get(struct pollfd *few, u32 n)
{
	return n <= POLL_FEW ? few : kmalloc(n * sizeof(*few), GFP_KERNEL);
}

void poll_array_put(struct pollfd *few, struct pollfd *p)
{
	if (p != few)
		kfree(p);
}

static int poll_array(struct pollfd *user, u32 n, s64 timeout_ns)
{
	struct pollfd few[POLL_FEW], *p;
	int ready = -EFAULT;

	if (n > current->limits[RLIMIT_NOFILE].soft)
		return -EINVAL;
	p = poll_array_get(few, n);
	if (!p)
		return -ENOMEM;
	if (!copy_from_user(p, user, n * sizeof(*p)))
		ready = poll_wait_for(p, n, timeout_ns);
	if (ready >= 0 && copy_to_user(user, p, n * sizeof(*p)))
		ready = -EFAULT;
	poll_array_put(few, p);
	return ready;
}

long sys_poll(struct pollfd *user, u32 n, s32 timeout_ms)
{
	return poll_array(user, n, timeout_ms < 0 ? FOREVER : timeout_ms * 1000000ll);
}

/* --- time limits and signal masks --- */

static s64 read_time(const struct limit *l)
{
	struct timespec64 wide;
	struct timespec32 narrow; /* or a timeval, which has microseconds */

	if (l->format == TIMESPEC64)
		return copy_from_user(&wide, l->user, sizeof(wide))
			       ? -EFAULT
			       : timespec_ns(wide.sec, wide.nsec);
	if (copy_from_user(&narrow, l->user, sizeof(narrow)))
		return -EFAULT;
	if (l->format == TIMEVAL32) /* select accepts more than a second of microseconds */
		return narrow.nsec < 0 ? FOREVER
				       : timespec_ns(narrow.sec + narrow.nsec / 1000000,
						     narrow.nsec % 1000000 * 1000ll);
	return timespec_ns(narrow.sec, narrow.nsec);
}

int limit_read(struct limit *l, void *user, enum time_format format)
{
	*l = (struct limit){ .user = user, .format = format, .ns = FOREVER };
	if (!user)
		return 0;
	l->ns = read_time(l);
	if (l->ns < 0)
		return l->ns == -EFAULT ? -EFAULT : -EINVAL;
	l->end_ns = clock_ns() + l->ns;
	return 0;
}

void limit_write(const struct limit *l)
{
	u64 now = clock_ns(), left = l->end_ns > now ? l->end_ns - now : 0;
	struct timespec64 wide = { .sec = left / NSEC, .nsec = left % NSEC };
	struct timespec32 narrow = { .sec = wide.sec, .nsec = wide.nsec };

	if (!l->user)
		return;
	if (l->format == TIMEVAL32)
		narrow.nsec /= 1000;
	if (l->format == TIMESPEC64)
		(void)!copy_to_user(l->user, &wide, sizeof(wide));
	else
		(void)!copy_to_user(l->user, &narrow, sizeof(narrow));
}

int mask_begin(const void *user, u32 size)
{
	u64 mask;

	if (!user)
		return 0;
	if (size != sizeof(mask))
		return -EINVAL;
	if (copy_from_user(&mask, user, sizeof(mask)))
		return -EFAULT;
	current->saved_blocked = current->sig.blocked;
	signal_set_blocked(mask);
	return 0;
}

void mask_end(const void *user, int result)
{
	if (user && result == -EINTR)
		current->restore_blocked = true;
	else if (user)
		signal_set_blocked(current->saved_blocked);
}

static long poll_masked(struct pollfd *fds, u32 n, struct limit *limit, const void *mask, u32 size)
{
	int result = mask_begin(mask, size);

	if (result)
		return result;
	result = poll_array(fds, n, limit->ns);
	mask_end(mask, result);
	limit_write(limit);
	return result;
}

long sys_ppoll(struct pollfd *fds, u32 n, void *time, const void *mask, u32 size)
{
	struct limit limit;
	int err = limit_read(&limit, time, TIMESPEC32);

	return err ? err : poll_masked(fds, n, &limit, mask, size);
}

long sys_ppoll_time64(struct pollfd *fds, u32 n, void *time, const void *mask, u32 size)
{
	struct limit limit;
	int err = limit_read(&limit, time, TIMESPEC64);

	return err ? err : poll_masked(fds, n, &limit, mask, size);
}
