/*
 * Access to user memory from the kernel. Every function checks that the range lies below TASK_SIZE
 * and survives a page that cannot be provided. All may sleep (a page may have to be read).
 */
#ifndef ARCH_UACCESS_H
#define ARCH_UACCESS_H

#include "types.h"

/* Returns 0 or -EFAULT. Part of the data may have been copied before a fault. */
int copy_from_user(void *to, const void *user_from, size_t n);
int copy_to_user(void *user_to, const void *from, size_t n);
int clear_user(void *user_to, size_t n);

/* Returns the length without the NUL, -EFAULT, or -ENAMETOOLONG if no NUL is within max bytes. */
int strncpy_from_user(char *to, const char *user_from, size_t max);

/* Copy one 32-bit word. Return 0 or -EFAULT. */
static inline int get_user_u32(u32 *to, const void *user_from);
static inline int put_user_u32(void *user_to, u32 value);

/* Returns true if [p, p + n) lies below TASK_SIZE. Does not access it. */
static inline bool access_ok(const void *p, size_t n);

struct pt_regs;

/* Continues at the fixup of a user copy. Returns false if there is no fixup. */
bool fixup_exception(struct pt_regs *regs);
/* Did this exception happen in a user copy? Other kernel code must not access user addresses. */
bool has_fixup(const struct pt_regs *regs);

#include "arch/x86/uaccess.h"

#endif
