/*
 * User memory from the kernel. Every function checks that the range lies below TASK_SIZE and
 * survives a page that cannot be had. They may sleep (a page may have to be read in).
 */
#ifndef ARCH_UACCESS_H
#define ARCH_UACCESS_H

#include "types.h"

/* 0 or -EFAULT; on a fault, part of the data may have been copied. */
int copy_from_user(void *to, const void *user_from, size_t n);
int copy_to_user(void *user_to, const void *from, size_t n);
int clear_user(void *user_to, size_t n);

/* Length without the NUL, -EFAULT, or -ENAMETOOLONG when it does not end within max bytes. */
int strncpy_from_user(char *to, const char *user_from, size_t max);

/* 32-bit words; 0 or -EFAULT. */
int get_user_u32(u32 *to, const void *user_from);
int put_user_u32(void *user_to, u32 value);

/* 0 or -EFAULT: does [p, p + n) lie below TASK_SIZE? Touches nothing. */
static inline bool access_ok(const void *p, size_t n);

#include "arch/x86/uaccess.h"

#endif
