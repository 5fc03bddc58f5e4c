/*
 * What allocators share: the pages below them, and counting the pages that they hold.
 *
 * The page allocator is the kernel's own mm/frame/buddy.c. It lends pages to the allocators that cut
 * them up, among them the kernel's mm/frame/slab.c, for which alloc_pages and free_pages are here. As
 * a block of it is a power of two, a request for another number of pages gives the rest back.
 */
#include "sim.h"

#include "lib/assert.h"
#include <stdlib.h>
#include <string.h>

struct tally tally;
u32 unit, nr_units;
struct block blocks[MAX_UNITS];

static struct zone lent;                 /* the pages that are lent */
static u16 users[ARENA_PAGES]; /* blocks in use that overlap a page */

void blocks_clear(void)
{
	memset(blocks, 0, nr_units * sizeof(blocks[0]));
}

/* The frames [first, first + nr) become a zone, all of them free. nr is a power of two. */
void zone_fill(struct zone *z, u32 first, u32 nr)
{
	u32 order = MIN(log2_above(nr), (u32)MAX_ORDER - 1);

	memset(mem_map + first, 0, nr * sizeof(struct page));
	*z = (struct zone){ .start_pfn = first, .end_pfn = first + nr };
	buddy_init(z);
	for (u32 pfn = first; pfn < first + nr; pfn += 1u << order)
		buddy_free(z, pfn_page(pfn), order);
}

void machine_create(void)
{
	max_pfn = FRAMES_END;
	mem_map = calloc(max_pfn, sizeof(struct page));
	host_ram = aligned_alloc(PAGE_SIZE, ARENA_PAGES * PAGE_SIZE);
	if (!mem_map || !host_ram)
		bad("out of memory");
}

void pages_start(void)
{
	tally = (struct tally){ 0 };
	memset(users, 0, sizeof(users));
	zone_fill(&lent, 0, nr_units * unit / PAGE_SIZE);
}

static void count_pages(u32 address, u32 bytes, int change)
{
	for (u32 page = address / PAGE_SIZE; page <= (address + bytes - 1) / PAGE_SIZE; page++) {
		tally.held -= users[page] ? PAGE_SIZE : 0;
		users[page] += change;
		tally.held += users[page] ? PAGE_SIZE : 0;
	}
}

void hold(u32 address, u32 bytes)
{
	count_pages(address, bytes, 1);
	tally.granted += bytes;
}

void release(u32 address, u32 bytes)
{
	count_pages(address, bytes, -1);
	tally.granted -= bytes;
}

struct page *alloc_pages(gfp_t gfp, u32 order)
{
	struct page *page = buddy_alloc(&lent, order);

	(void)gfp;
	if (page)
		tally.held += PAGE_SIZE << order;
	return page;
}

void free_pages(struct page *page, u32 order)
{
	tally.held -= PAGE_SIZE << order;
	buddy_free(&lent, page, order);
}

u32 pages_take(u32 nr)
{
	u32 order = log2_above(nr);
	struct page *page = order < MAX_ORDER ? alloc_pages(0, order) : NULL;

	if (!page)
		return NONE;
	pages_give((page_pfn(page) + nr) * PAGE_SIZE, (1u << order) - nr);
	return page_pfn(page) * PAGE_SIZE;
}

void pages_give(u32 address, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		struct page *page = pfn_page(address / PAGE_SIZE + i);

		page->lru.next = NULL; /* the pages of a block are given back one by one */
		free_pages(page, 0);
	}
}
