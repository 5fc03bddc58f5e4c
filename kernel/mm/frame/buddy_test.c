#include "buddy.c"
#include "host/host.h"
#include "lib/ktap.h"
#include <string.h>

#define NR_FRAMES 5000
#define ZONE_START 37 /* not aligned to any block */
#define ZONE_END 4900
#define MAX_HELD 600

static struct zone zone;

/* Makes a zone with a hole, all frames of which are free. */
static void zone_fill(void)
{
	u32 pfn;

	host_ram_create(NR_FRAMES);
	memset(&zone, 0, sizeof(zone));
	zone.nr_free = zone.free_area[3].nr_free = 7; /* any wrong value */
	zone.start_pfn = ZONE_START;
	zone.end_pfn = ZONE_END;
	buddy_init(&zone);
	for (pfn = ZONE_START; pfn < ZONE_END; pfn++)
		if (pfn < 1000 || pfn >= 1010)
			buddy_free(&zone, pfn_page(pfn), 0);
}

static u32 managed(void)
{
	return ZONE_END - ZONE_START - 10;
}

KTEST(buddy, pages_grow_together_to_the_largest_blocks)
{
	zone_fill();
	EXPECT_EQ(buddy_check(&zone), 0);
	EXPECT_EQ(zone.nr_free, managed());
	EXPECT_EQ(zone.free_area[10].nr_free, 3); /* from 1024, 2048 and 3072 */
	host_ram_destroy();
}

KTEST(buddy, blocks_are_aligned_and_inside_the_zone)
{
	struct page *page;
	u32 order;

	zone_fill();
	for (order = 0; order < MAX_ORDER; order++) {
		page = buddy_alloc(&zone, order);
		EXPECT(page != NULL);
		EXPECT_EQ(page_pfn(page) % (1u << order), 0);
		EXPECT(page_pfn(page) >= ZONE_START && page_pfn(page) + (1u << order) <= ZONE_END);
	}
	EXPECT_EQ(zone.nr_free, managed() - 2047);
	EXPECT(buddy_alloc(&zone, 9) != NULL);
	EXPECT_EQ(buddy_check(&zone), 0);
	host_ram_destroy();
}

KTEST(buddy, empty_zone_yields_null)
{
	static struct page *held[NR_FRAMES];
	u32 n = 0;

	zone_fill();
	while ((held[n] = buddy_alloc(&zone, 0)))
		n++;
	EXPECT_EQ(n, managed());
	EXPECT_EQ(zone.nr_free, 0);
	EXPECT_EQ(buddy_alloc(&zone, 3), NULL);
	while (n--)
		buddy_free(&zone, held[n], 0);
	EXPECT_EQ(zone.nr_free, managed());
	EXPECT_EQ(zone.free_area[10].nr_free, 3);
	EXPECT_EQ(buddy_check(&zone), 0);
	host_ram_destroy();
}

struct held {
	struct page *page;
	u32 order;
};

/* The model is a map of the allocated frames, frame by frame. */
static bool take(u8 *used, const struct held *h, u8 from, u8 to)
{
	u32 pfn = page_pfn(h->page), i;

	for (i = 0; i < 1u << h->order; i++) {
		if (used[pfn + i] != from)
			return false;
		used[pfn + i] = to;
	}
	return true;
}

/* Returns an order; each is half as frequent as the one below it. */
static u32 random_order(u32 *rnd)
{
	return __builtin_ctz(ktap_random(rnd) | 1u << (MAX_ORDER - 1));
}

KTEST(buddy, random_operations_match_a_map)
{
	static struct held held[MAX_HELD];
	static u8 used[NR_FRAMES];
	u32 rnd = ktap_seed_noted(), nr_held = 0, nr_used = 0, i, n;
	struct held h;

	zone_fill();
	memset(used, 0, sizeof(used));
	memset(used + 1000, 2, 10);
	for (i = 0; i < 100000; i++) {
		bool grow = ktap_random(&rnd) % 1000 < (i / 10000 % 2 ? 350u : 650u);

		if (grow && nr_held < MAX_HELD) {
			h.order = random_order(&rnd);
			h.page = buddy_alloc(&zone, h.order);
			if (!h.page)
				continue;
			h.page->lru.next = &h.page->lru; /* owners may use lru */
			EXPECT(take(used, &h, 0, 1));
			held[nr_held++] = h;
			nr_used += 1u << h.order;
		} else if (!grow && nr_held) {
			n = ktap_random(&rnd) % nr_held;
			h = held[n];
			held[n] = held[--nr_held];
			EXPECT(take(used, &h, 1, 0));
			buddy_free(&zone, h.page, h.order);
			nr_used -= 1u << h.order;
		}
		if (i % 300 == 0) {
			EXPECT_EQ(buddy_check(&zone), 0);
			EXPECT_EQ(zone.nr_free, managed() - nr_used);
		}
	}
	host_ram_destroy();
}

KTEST(buddy, free_block_of_a_neighbour_zone_is_no_buddy)
{
	struct page *below, *above;

	zone_fill();
	below = pfn_page(ZONE_START - 1);
	above = pfn_page(ZONE_END);
	while (buddy_alloc(&zone, 0))
		;
	page_set(below, PG_buddy);
	below->order = 0;
	page_set(above, PG_buddy);
	above->order = 2;
	buddy_free(&zone, pfn_page(ZONE_START), 0);
	buddy_free(&zone, pfn_page(ZONE_END - 4), 2);
	EXPECT(page_test(below, PG_buddy) && page_test(above, PG_buddy));
	EXPECT_EQ(zone.nr_free, 5);
	EXPECT_EQ(buddy_check(&zone), 0);
	host_ram_destroy();
}

/* Frees both frames of a pair, and the first one again, before and after they
 * have merged. */
static void free_twice(struct page *first, struct page *second)
{
	buddy_free(&zone, first, 0);
	EXPECT_PANIC(buddy_free(&zone, first, 0));
	buddy_free(&zone, second, 0);
	EXPECT_PANIC(buddy_free(&zone, first, 0));
	EXPECT_PANIC(buddy_free(&zone, second, 0));
	EXPECT_EQ(buddy_check(&zone), 0);
}

KTEST(buddy, double_free_is_caught)
{
	struct page *a, *b;

	zone_fill();
	while (buddy_alloc(&zone, 0))
		;
	a = pfn_page(2000);
	b = pfn_page(2001);
	free_twice(a, b);
	EXPECT_EQ(buddy_alloc(&zone, 0), a);
	EXPECT_EQ(buddy_alloc(&zone, 0), b);
	free_twice(b, a);
	host_ram_destroy();
}

KTEST(buddy, misaligned_free_is_caught)
{
	struct page *page;

	zone_fill();
	page = buddy_alloc(&zone, 2);
	EXPECT_PANIC(buddy_free(&zone, page + 1, 2));
	host_ram_destroy();
}

KTEST(buddy, check_finds_damage)
{
	struct page *page;

	zone_fill();
	page = list_first_entry(&zone.free_area[10].list, struct page, lru);
	zone.nr_free++;
	EXPECT_EQ(buddy_check(&zone), -EINVAL);
	zone.nr_free--;
	page_clear(page, PG_buddy);
	EXPECT_EQ(buddy_check(&zone), -EINVAL);
	page_set(page, PG_buddy);
	page->order = 9;
	EXPECT_EQ(buddy_check(&zone), -EINVAL);
	page->order = 10;
	EXPECT_EQ(buddy_check(&zone), 0);
	host_ram_destroy();
}
