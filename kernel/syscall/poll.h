/* Shared by poll.c and select.c. */
#ifndef SYSCALL_POLL_H
#define SYSCALL_POLL_H

#include "types.h"

#define FOREVER (-1ll)
#define POLL_FEW 64u /* arrays of this length are on the stack */

struct pollfd {
	s32 fd;
	u16 events, revents;
};

enum time_format { TIMEVAL32, TIMESPEC32, TIMESPEC64 };

/* A time limit in a program's memory. */
struct limit {
	void *user; /* NULL: none */
	enum time_format format;
	s64 ns;     /* FOREVER: none */
	u64 end_ns; /* of the clock */
};

/* Returns 0, -EFAULT, or -EINVAL for an invalid time. */
int limit_read(struct limit *l, void *user, enum time_format format);
/* Writes the time left. As on Linux, a program's read-only memory is not an error. */
void limit_write(const struct limit *l);

/* Sets the signal mask for the time of a call. user may be NULL. Returns 0, -EINVAL or -EFAULT. */
int mask_begin(const void *user, u32 size);
/* Ends it. If a signal ended the call, its handler still runs with the temporary mask. */
void mask_end(const void *user, int result);

/* Returns few, which has POLL_FEW elements, or an array for n elements; NULL if out of memory. */
struct pollfd *poll_array_get(struct pollfd *few, u32 n);
void poll_array_put(struct pollfd *few, struct pollfd *p);

/* Waits until one of n files is ready. Sets revents. Returns the number of ready files, 0 after
 * timeout_ns, or -EINTR. May sleep. */
int poll_wait_for(struct pollfd *p, u32 n, s64 timeout_ns);

#endif
