/* RLIMIT_FSIZE: a process must not make a regular file larger than its limit. A write is cut at the limit;
 * one that begins there, and a truncation beyond it, fail with SIGXFSZ. */
#include "internal.h"

#include "sched/current.h"

int fsize_check(const struct inode *inode, u64 pos, size_t *n)
{
	u32 limit = current->limits[RLIMIT_FSIZE].soft;

	if (limit == RLIM_INFINITY || !inode_is_reg(inode))
		return 0;
	if (pos >= limit) {
		signal_send(current, SIGXFSZ);
		return -EFBIG;
	}
	if (n)
		*n = MIN(*n, limit - pos);
	return 0;
}
