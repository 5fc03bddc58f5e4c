/* The inline part of arch/uaccess.h. */
#ifndef ARCH_X86_UACCESS_H
#define ARCH_X86_UACCESS_H

#include "arch/mmu.h"

static inline bool access_ok(const void *p, size_t n)
{
	return n <= TASK_SIZE && (u32)p <= TASK_SIZE - n;
}

#endif
