/*
 * select and pselect6: three bitmaps of descriptors instead of the array of poll, to which they are
 * translated. As on Linux, bits beyond the size of the caller's descriptor table are ignored, and are
 * not written back.
 */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"
#include "lib/string.h"
#include "poll.h"

enum { SET_READ, SET_WRITE, SET_EXCEPT, NR_SETS };

struct fd_set {
	u32 bits[NR_OPEN / 32];
};

static const struct {
	u16 wanted, reported;
} meaning[NR_SETS] = {
	[SET_READ] = { POLLIN, POLLIN | POLLHUP | POLLERR },
	[SET_WRITE] = { POLLOUT, POLLOUT | POLLERR },
	[SET_EXCEPT] = { POLLPRI, POLLPRI },
};

static bool set_has(const struct fd_set *set, u32 fd)
{
	return set->bits[fd / 32] >> fd % 32 & 1;
}

/* Copies a set of n descriptors; the bits after them are clear. user may be NULL. Returns 0 or -EFAULT. */
static int read_set(struct fd_set *set, const void *user, u32 n)
{
	u32 bytes = ALIGN_UP(n, 32u) / 8;

	if (!user)
		memset(set, 0, bytes);
	else if (copy_from_user(set, user, bytes))
		return -EFAULT;
	if (n % 32)
		set->bits[n / 32] &= (1u << n % 32) - 1;
	return 0;
}

/* Translates the first n bits of the sets. Returns the length of the array. */
static u32 sets_to_array(const struct fd_set *sets, u32 n, struct pollfd *p)
{
	u32 count = 0;

	for (u32 fd = 0; fd < n; fd++) {
		u16 events = 0, any = 0;

		for (u32 i = 0; i < NR_SETS; i++) {
			any |= set_has(&sets[i], fd);
			events |= set_has(&sets[i], fd) ? meaning[i].wanted : 0;
		}
		if (any)
			p[count++] = (struct pollfd){ .fd = fd, .events = events };
	}
	return count;
}

/* Keeps the bits of files that are ready. Returns their number, or -EBADF for a closed file. */
static int array_to_sets(struct fd_set *sets, const struct pollfd *p, u32 count)
{
	int ready = 0;

	for (; count; count--, p++) {
		if (p->revents & POLLNVAL)
			return -EBADF;
		for (u32 i = 0; i < NR_SETS; i++) {
			if (!set_has(&sets[i], p->fd))
				continue;
			if (p->revents & meaning[i].reported)
				ready++;
			else
				sets[i].bits[p->fd / 32] &= ~(1u << p->fd % 32);
		}
	}
	return ready;
}

static int select_sets(struct fd_set *sets, u32 n, s64 timeout_ns)
{
	struct pollfd few[POLL_FEW], *p = poll_array_get(few, n);
	u32 count;
	int ready;

	if (!p)
		return -ENOMEM;
	count = sets_to_array(sets, n, p);
	ready = poll_wait_for(p, count, timeout_ns);
	if (ready >= 0)
		ready = array_to_sets(sets, p, count);
	poll_array_put(few, p);
	return ready;
}

static int do_select(int nr, void *const user[NR_SETS], struct limit *limit)
{
	struct fd_set sets[NR_SETS];
	u32 n = MIN((u32)nr, current->files->size), bytes = ALIGN_UP(n, 32u) / 8;
	int ready;

	if (nr < 0)
		return -EINVAL;
	for (u32 i = 0; i < NR_SETS; i++)
		if (read_set(&sets[i], user[i], n))
			return -EFAULT;
	ready = select_sets(sets, n, limit->ns);
	for (u32 i = 0; i < NR_SETS && ready >= 0; i++)
		if (user[i] && copy_to_user(user[i], &sets[i], bytes))
			ready = -EFAULT;
	limit_write(limit);
	return ready;
}

long sys__newselect(int nr, void *read, void *write, void *except, void *time)
{
	struct limit limit;
	int err = limit_read(&limit, time, TIMEVAL32);

	return err ? err : do_select(nr, (void *[]){ read, write, except }, &limit);
}

long sys_select(const u32 *user)
{
	u32 a[5];

	if (copy_from_user(a, user, sizeof(a)))
		return -EFAULT;
	return sys__newselect(a[0], (void *)a[1], (void *)a[2], (void *)a[3], (void *)a[4]);
}

/* Waits with another signal mask. `mask` points to two words: the address of the mask, and its
 * size. */
static long select_masked(int nr, void *const user[NR_SETS], struct limit *limit, const u32 *mask)
{
	u32 given[2] = { 0 };
	int result;

	if (mask && copy_from_user(given, mask, sizeof(given)))
		return -EFAULT;
	result = mask_begin((void *)given[0], given[1]);
	if (result)
		return result;
	result = do_select(nr, user, limit);
	mask_end((void *)given[0], result);
	return result;
}

long sys_pselect6(int nr, void *read, void *write, void *except, void *time, const u32 *mask)
{
	struct limit limit;
	int err = limit_read(&limit, time, TIMESPEC32);

	return err ? err : select_masked(nr, (void *[]){ read, write, except }, &limit, mask);
}

long sys_pselect6_time64(int nr, void *read, void *write, void *except, void *time, const u32 *mask)
{
	struct limit limit;
	int err = limit_read(&limit, time, TIMESPEC64);

	return err ? err : select_masked(nr, (void *[]){ read, write, except }, &limit, mask);
}
