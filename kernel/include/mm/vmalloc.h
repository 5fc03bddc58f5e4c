/*
 * vmalloc: kernel memory whose addresses follow one another while its frames lie anywhere. For tables
 * that are larger than the blocks the buddy allocator still has in one piece, and for which low memory
 * would be a pity. The theory is in mm/frame/vmalloc.c, the choice of addresses in mm/frame/vmrange.c.
 */
#ifndef MM_VMALLOC_H
#define MM_VMALLOC_H

#include "arch/mmu.h"
#include "lib/list.h"
#include "types.h"

struct seq_file;

/* The part of the kernel's page-mapped addresses that kernel stacks leave. */
#define VMALLOC_WINDOW_END (VMALLOC_START + (VMALLOC_END - VMALLOC_START) / 2)

/* bytes of memory at a page boundary; who names the user in /proc/vmallocinfo and is kept, not copied.
 * NULL: no memory, or no room in the window; then nothing was taken. May sleep, kills nobody. */
void *vmalloc(size_t bytes, const char *who);
void *vzalloc(size_t bytes, const char *who); /* of zeros */
void vfree(const void *start); /* NULL is allowed */

u32 vmalloc_nr_pages(void); /* frames in use */
void vmallocinfo_show(struct seq_file *m);

/* Ranges of addresses in a window, first fit; mm/frame/vmrange.c. */
struct vm_window {
	u32 start, end;
	struct list_head ranges; /* of struct vm_range.node, by address */
};

struct vm_range {
	struct list_head node;
	u32 start, bytes; /* without the guard page behind it */
};

/* Gives r the lowest place for so many whole pages with an unused page behind them; false: there is
 * none. */
bool vm_range_take(struct vm_window *w, struct vm_range *r, u32 bytes);
void vm_range_give(struct vm_range *r);
/* The range that begins there, or NULL. */
struct vm_range *vm_range_find(const struct vm_window *w, u32 start);

#endif
