/*
 * Drives the page allocator through the operations that standard input requests, and prints the
 * results. It does not judge them: tidemark.grade.judge.kinds.buddy does.
 *
 * The allocator's code is untrusted, so it is another program (allocator.c); tests/host/driven/driven.h says
 * how the two work together. They share the memory of the zone and the struct pages.
 *
 *	z FIRST END HOLE END	a zone [FIRST, END) without [HOLE, END), given frame by frame; comes first
 *	a ORDER			allocate
 *	f N			free what operation N allocated, if it did
 *	t N			free it once more, which must end in a panic
 *	m N			free it with the address of its second frame, which must, too
 *	d N			damage the lists in four ways, undoing each: does buddy_check report each
 *				damage, and no error without one? Without damage it is called at the end,
 *				and before each damage as often as two bits of N say
 *
 * Every operation prints one line: the letter, the result, and after z, a and f the zone's nr_free,
 * the number of free blocks of each order, and what buddy_check says. The frames around the zone
 * look like free blocks of other zones. The owner of a block writes into the owner's fields of its
 * struct pages.
 */
#include "allocator.h"
#include "errno.h"
#include <stdio.h>
#include <stdlib.h>

enum { MAX_OPERATIONS = 100000, MARGIN = 2048 };

static const char *driver; /* our path */
static struct zone *zone;
static struct {
	struct page *page;
	u32 order;
} held[MAX_OPERATIONS + 1];

static int check(void)
{
	return (int)ask((struct call){ .what = CHECK });
}

static void free_block(struct page *page, u32 order)
{
	ask((struct call){ .what = FREE, .a = (uintptr_t)page, .b = order });
}

static u32 operation_number(void)
{
	u32 n = number();

	if (n > MAX_OPERATIONS)
		exit(2);
	return n;
}

static void print_zone(void)
{
	printf(" %u", zone->nr_free);
	for (u32 order = 0; order < MAX_ORDER; order++)
		printf(" %u", zone->free_area[order].nr_free);
	printf(" %d\n", check());
}

static void make_neighbours(void)
{
	for (u32 pfn = 0; pfn < max_pfn; pfn++) {
		if (pfn >= zone->start_pfn && pfn < zone->end_pfn)
			continue;
		page_set(pfn_page(pfn), PG_buddy);
		INIT_LIST_HEAD(&pfn_page(pfn)->lru);
	}
}

static void make_zone(void)
{
	u32 first = number(), end = number(), hole = number(), hole_end = number();

	zone = place_zone(create_memory(shared_size(end + MARGIN)), shared_size(end + MARGIN));
	*zone = (struct zone){ .start_pfn = first, .end_pfn = end };
	make_neighbours();
	start_program(driver, "allocator");
	ask((struct call){ .what = INIT });
	for (u32 pfn = first; pfn < end; pfn++)
		if (pfn < hole || pfn >= hole_end)
			free_block(pfn_page(pfn), 0);
	printf("z");
	print_zone();
}

/* Writes numbers into the owner's fields of struct page, as the owner of a block may. */
static void use_block(struct page *page, u32 order)
{
	for (struct page *p = page; p < page + (1u << order); p++) {
		p->count = 1;
		INIT_LIST_HEAD(&p->lru);
		p->index = p->slot = p->used_vt = 0xA5A5A5A5;
		p->order = (page_pfn(p) * 7) % MAX_ORDER;
	}
}

static bool is_page(const struct page *page, u32 order)
{
	return page >= mem_map && page + (1u << order) <= mem_map + max_pfn &&
	       ((const char *)page - (const char *)mem_map) % sizeof(*page) == 0;
}

static void allocate(u32 operation)
{
	u32 order = number();
	struct page *page =
		(struct page *)(uintptr_t)ask((struct call){ .what = ALLOC, .a = order });

	if (!page) {
		printf("a none");
	} else if (!is_page(page, order)) {
		printf("a wild\n");
		return;
	} else {
		printf("a %u", page_pfn(page));
		use_block(page, order);
		held[operation].page = page;
		held[operation].order = order;
	}
	print_zone();
}

static void release(void)
{
	u32 of = operation_number();

	if (held[of].page) {
		for (u32 i = 0; i < 1u << held[of].order; i++)
			held[of].page[i].count = 0;
		free_block(held[of].page, held[of].order);
	}
	printf("f");
	print_zone();
}

/* Frees a block a second time, or at a wrong address: the allocator must panic. */
static void misuse(char how)
{
	u32 of = operation_number();

	free_block(held[of].page + (how == 'm'), held[of].order);
	printf("%c silent\n", how);
}

static const char *noticed(void)
{
	return check() == -EINVAL ? "found" : "missed";
}

static bool is_content(u32 times)
{
	bool content = true;

	while (times--)
		content &= !check();
	return content;
}

/* Damages the counts, and the entry of a largest free block. */
static void damage(void)
{
	u32 often = number();
	bool content = is_content(often & 3);
	struct free_area *area = &zone->free_area[MAX_ORDER - 1];
	struct page *page;

	while (area > zone->free_area && list_empty(&area->list))
		area--;
	page = list_first_entry(&area->list, struct page, lru);
	if (!is_page(page, 0)) { /* of an empty list, or one that leads elsewhere */
		printf("d none\n");
		return;
	}
	zone->nr_free++;
	printf("d %s", noticed());
	zone->nr_free--;
	content &= is_content(often >> 2 & 3);
	area->nr_free++;
	printf(" %s", noticed());
	area->nr_free--;
	content &= is_content(often >> 4 & 3);
	page_clear(page, PG_buddy);
	printf(" %s", noticed());
	page_set(page, PG_buddy);
	content &= is_content(often >> 6 & 3);
	page->order ^= 1;
	printf(" %s", noticed());
	page->order ^= 1;
	printf(" %s\n", content && is_content(1) ? "content" : "never");
}

static bool operate(u32 operation)
{
	char what;

	if (!next_operation(&what))
		return false;
	switch (what) {
	case 'z':
		make_zone();
		break;
	case 'a':
		allocate(operation);
		break;
	case 'f':
		release();
		break;
	case 't':
	case 'm':
		misuse(what);
		break;
	case 'd':
		damage();
		break;
	default:
		exit(2);
	}
	return true;
}

static void operate_all(void)
{
	u32 operation = 0;

	while (operation <= MAX_OPERATIONS && operate(operation))
		operation++;
}

int main(int argc, char **argv)
{
	(void)argc;
	driver = argv[0];
	take_input();
	operate_all();
	return 0;
}
