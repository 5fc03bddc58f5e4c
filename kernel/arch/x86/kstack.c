/*
 * Kernel stacks, in the upper half of the vmalloc area, in slots of 16 KiB. The lower half of a
 * slot is never mapped, so that a stack overflow faults instead of overwriting the neighbouring
 * stack. A few free stacks stay mapped, because the next fork will need one.
 */
#include "arch/mmu.h"
#include "arch/task.h"
#include "internal.h"
#include "lib/assert.h"
#include "mm/page.h"
#include "mm/vmalloc.h"
#include "mm/zone.h"

#define SLOT_SIZE (2 * KERNEL_STACK_SIZE)
#define NR_SLOTS 1024u
#define AREA_START (VMALLOC_END - NR_SLOTS * SLOT_SIZE)
#define PAGES_PER_STACK (KERNEL_STACK_SIZE / PAGE_SIZE)
#define MAX_CACHED 8u

STATIC_ASSERT(AREA_START >= VMALLOC_WINDOW_END);

static u16 free_slots[NR_SLOTS]; /* a stack of freed slots */
static u32 nr_free_slots;
static u32 nr_used_slots; /* slots below this number have been used before */
static void *cached[MAX_CACHED];
static u32 nr_cached;

static void *slot_stack(u32 slot)
{
	return (void *)(AREA_START + slot * SLOT_SIZE + SLOT_SIZE - KERNEL_STACK_SIZE);
}

static u32 stack_slot(const void *stack)
{
	return ((u32)stack - AREA_START) / SLOT_SIZE;
}

static void unmap_pages(void *stack, u32 n)
{
	u32 i, va, pfn;

	for (i = 0; i < n; i++) {
		va = (u32)stack + i * PAGE_SIZE;
		pfn = pte_pfn(*pte_lookup(kernel_pgd, va));
		kernel_unmap_page(va);
		free_pages(pfn_page(pfn), 0);
	}
}

static bool map_pages(void *stack)
{
	struct page *page;
	u32 i;

	for (i = 0; i < PAGES_PER_STACK; i++) {
		page = alloc_page(GFP_KERNEL);
		if (!page) {
			unmap_pages(stack, i);
			return false;
		}
		kernel_map_page((u32)stack + i * PAGE_SIZE, page_pfn(page));
	}
	return true;
}

void *kernel_stack_alloc(void)
{
	u32 slot;

	if (nr_cached)
		return cached[--nr_cached];
	if (nr_free_slots)
		slot = free_slots[--nr_free_slots];
	else if (nr_used_slots < NR_SLOTS)
		slot = nr_used_slots++;
	else
		return NULL;
	if (map_pages(slot_stack(slot)))
		return slot_stack(slot);
	free_slots[nr_free_slots++] = slot;
	return NULL;
}

static void release(void *stack)
{
	unmap_pages(stack, PAGES_PER_STACK);
	free_slots[nr_free_slots++] = stack_slot(stack);
}

void kernel_stack_free(void *stack)
{
	if (nr_cached < MAX_CACHED)
		cached[nr_cached++] = stack;
	else
		release(stack);
}

u32 kernel_stack_reap(void)
{
	u32 freed = nr_cached * PAGES_PER_STACK;

	while (nr_cached)
		release(cached[--nr_cached]);
	return freed;
}

bool kernel_stack_guard(u32 addr)
{
	return addr >= AREA_START && addr < VMALLOC_END &&
	       (addr - AREA_START) % SLOT_SIZE < SLOT_SIZE - KERNEL_STACK_SIZE;
}
