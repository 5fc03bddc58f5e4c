/*
 * Frames for host tests: physical address 0 is the start of a block of host memory. There are no
 * page tables here; code that needs them is tested in the kernel.
 */
#ifndef ARCH_MMU_H
#define ARCH_MMU_H

#include "types.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE 4096u
#define PAGE_MASK (~(PAGE_SIZE - 1))
#define PAGE_ALIGN(x) ALIGN_UP((u32)(x), PAGE_SIZE)

#define KERNEL_BASE 0xC0000000u
#define TASK_SIZE KERNEL_BASE

typedef struct {
	u32 v;
} pte_t;
typedef struct {
	u32 v;
} pgd_t;

extern char *host_ram; /* host_ram_create() */

static inline void *phys_to_virt(u32 pa)
{
	return host_ram + pa;
}

static inline u32 virt_to_phys(const void *va)
{
	return (const char *)va - host_ram;
}

static inline void *kmap_pfn(u32 pfn)
{
	return phys_to_virt(pfn << PAGE_SHIFT);
}

static inline void kunmap(void *addr)
{
	(void)addr;
}

void clear_page(void *page);
void copy_page(void *to, const void *from);

#endif
