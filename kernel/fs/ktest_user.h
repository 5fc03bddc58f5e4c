/* For in-kernel tests of calls that take user memory: a user address space for the test's task. */
#ifndef FS_KTEST_USER_H
#define FS_KTEST_USER_H

#include "types.h"

/* Gives current, a kernel thread without one, an address space with `bytes` of zeroed memory, and
 * returns where; NULL, with the test marked as failed: it could not be had. */
void *ktest_user_begin(u32 bytes);
void ktest_user_end(void);

/* Copies between kernel and user memory that must succeed. */
void ktest_user_write(void *user, const void *from, u32 n);
void ktest_user_read(void *to, const void *user, u32 n);

#endif
