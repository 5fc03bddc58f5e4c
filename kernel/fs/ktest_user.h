/* For in-kernel tests of calls with user memory: a user address space for the test's task. */
#ifndef FS_KTEST_USER_H
#define FS_KTEST_USER_H

#include "types.h"

/* Gives current, a kernel thread, an address space with `bytes` of zeroed memory and returns its
 * address, or NULL, with the test marked as failed, if out of memory. */
void *ktest_user_begin(u32 bytes);
void ktest_user_end(void);

/* Copy between kernel and user memory; a failure fails the test. */
void ktest_user_write(void *user, const void *from, u32 n);
void ktest_user_read(void *to, const void *user, u32 n);

#endif
