/*
 * vmalloc: kernel memory at consecutive addresses in frames that need not be consecutive. For tables
 * that are larger than the blocks that the buddy allocator still has, and for which low memory is
 * too scarce. The theory is in mm/frame/vmalloc.c, the choice of addresses in mm/frame/vmrange.c.
 */
#ifndef MM_VMALLOC_H
#define MM_VMALLOC_H

#include "arch/mmu.h"
#include "lib/list.h"
#include "types.h"

struct seq_file;

/* The part of the kernel's page-mapped addresses that is not used for kernel stacks. */
#define VMALLOC_WINDOW_END (VMALLOC_START + (VMALLOC_END - VMALLOC_START) / 2)

/* Returns `bytes` of memory at a page boundary. who: the user's name in /proc/vmallocinfo; kept, not copied.
 * NULL if memory or the window is exhausted; then nothing was allocated. May sleep, kills no process. */
void *vmalloc(size_t bytes, const char *who);
void *vzalloc(size_t bytes, const char *who); /* zeroed */
void vfree(const void *start); /* NULL is allowed */

u32 vmalloc_nr_pages(void); /* frames in use */
void vmallocinfo_show(struct seq_file *m);

/* Address ranges in a window, allocated first fit; mm/frame/vmrange.c. */
struct vm_window {
	u32 start, end;
	struct list_head ranges; /* of struct vm_range.node, sorted by address */
};

struct vm_range {
	struct list_head node;
	u32 start, bytes; /* without the guard page after it */
};

/* Gives r the lowest free range of `bytes` (whole pages) that has an unused page after it. Returns
 * false if there is none. */
bool vm_range_take(struct vm_window *w, struct vm_range *r, u32 bytes);
void vm_range_give(struct vm_range *r);
/* Returns the range that begins at `start`, or NULL. */
struct vm_range *vm_range_find(const struct vm_window *w, u32 start);

#endif
