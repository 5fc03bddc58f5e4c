/*
 * vmalloc: large pieces of kernel memory made of single frames.
 *
 * After a while the buddy allocator has hardly any contiguous frames, and low memory is scarce on a
 * machine with HIGHMEM. A table of many pages needs neither: page tables can map frames from anywhere
 * at consecutive addresses. The costs are one extra page of addresses (the guard after each piece),
 * one TLB entry per page, where the direct map needs one per 1024 pages, and a walk to map the piece.
 *
 * Every address space must map the same kernel memory. A page directory is copied when an address
 * space is created, so a directory that is changed later would differ from the others. But the page
 * tables of this window exist from boot on (arch/x86/mmu.c: 16 KiB for 16 MiB), and all directories
 * point to these same tables: an entry that is written once is visible everywhere. Nothing else is
 * preallocated, and no fault has to update a directory.
 *
 * The frame of a page is recorded only in the page's entry.
 */
#include "mm/vmalloc.h"

#include "lib/assert.h"
#include "lib/seq_file.h"
#include "mm/slab.h"

struct piece {
	struct vm_range range;
	const char *who;
};

static struct vm_window window = { VMALLOC_START, VMALLOC_WINDOW_END,
				   LIST_HEAD_INIT(window.ranges) };
static u32 nr_pages;

static void unmap_pages(u32 start, u32 end)
{
	for (u32 va = start; va != end; va += PAGE_SIZE) {
		struct page *page = pfn_page(pte_pfn(*pte_lookup(kernel_pgd, va)));

		kernel_unmap_page(va);
		free_pages(page, 0);
		nr_pages--;
	}
}

/* Reclaim may run meanwhile, but no other task uses the range. */
static bool map_pages(const struct vm_range *r, gfp_t gfp)
{
	for (u32 va = r->start; va != r->start + r->bytes; va += PAGE_SIZE) {
		struct page *page = alloc_page(gfp);

		if (!page) {
			unmap_pages(r->start, va);
			return false;
		}
		kernel_map_page(va, page_pfn(page));
		nr_pages++;
	}
	return true;
}

static void *get_pages(size_t bytes, gfp_t gfp, const char *who)
{
	struct piece *p = kmalloc(sizeof(*p), GFP_KERNEL | GFP_NORETRY);

	if (!p)
		return NULL;
	p->who = who;
	if (!vm_range_take(&window, &p->range, PAGE_ALIGN(bytes)))
		goto free_piece;
	if (!map_pages(&p->range, gfp))
		goto give_range;
	return (void *)p->range.start;
give_range:
	vm_range_give(&p->range);
free_piece:
	kfree(p);
	return NULL;
}

void *vmalloc(size_t bytes, const char *who)
{
	return get_pages(bytes, GFP_USER | GFP_NORETRY, who);
}

void *vzalloc(size_t bytes, const char *who)
{
	return get_pages(bytes, GFP_USER | GFP_NORETRY | GFP_ZERO, who);
}

void vfree(const void *start)
{
	struct vm_range *r;

	if (!start)
		return;
	r = vm_range_find(&window, (u32)start);
	ASSERT(r);
	unmap_pages(r->start, r->start + r->bytes);
	vm_range_give(r);
	kfree(container_of(r, struct piece, range));
}

u32 vmalloc_nr_pages(void)
{
	return nr_pages;
}

/* In Linux's format: addresses and size with the guard page, the user, the number of pages without it. */
void vmallocinfo_show(struct seq_file *m)
{
	struct piece *p;

	list_for_each_entry(p, &window.ranges, range.node)
		seq_printf(m, "%#010x-%#010x %7u %s pages=%u vmalloc\n", p->range.start,
			   p->range.start + p->range.bytes + PAGE_SIZE, p->range.bytes + PAGE_SIZE,
			   p->who, p->range.bytes / PAGE_SIZE);
}
