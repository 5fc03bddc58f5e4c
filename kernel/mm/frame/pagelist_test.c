#include "buddy.c"
#include "pagelist.c"
#include "../../lib/parse.c"
#include "host/host.h"
#include "lib/ktap.h"

#define NR_FRAMES 1024u /* in the zone: one block */
#define NR_CALLS 20000

const struct pagelist_ops *pagelists;

static struct zone *const z = &zones[ZONE_NORMAL];
static struct page_list *const l = &page_lists[ZONE_NORMAL];

static void set_up(const char *fraction)
{
	host_ram_create(NR_FRAMES);
	memset(zones, 0, MAX_ZONES * sizeof(*zones));
	memset(page_lists, 0, sizeof(page_lists));
	z->end_pfn = z->managed = NR_FRAMES;
	buddy_init(z);
	buddy_free(z, pfn_page(0), 10);
	EXPECT(!parse_fraction(fraction));
}

static void empty(void)
{
	pagelists_drain();
	EXPECT_EQ(l->nr, 0);
	EXPECT_EQ(z->free_area[10].nr_free, 1);
	EXPECT_EQ(buddy_check(z), 0);
	host_ram_destroy();
}

KTEST(pagelist, sizes_follow_from_the_fraction)
{
	set_up("8");
	EXPECT_EQ(l->high, NR_FRAMES / 8);
	EXPECT_EQ(l->batch, NR_FRAMES / 8 / 4);
	EXPECT_EQ(page_lists[ZONE_DMA].high, 0);
	z->managed = 1u << 20;
	EXPECT(!parse_fraction("100"));
	EXPECT_EQ(l->high, (1u << 20) / 100);
	EXPECT_EQ(l->batch, 96);
	z->managed = NR_FRAMES;
	EXPECT(!parse_fraction("2000"));
	EXPECT_EQ(l->high, 0);
	EXPECT(parse_fraction("7") && parse_fraction("1") && parse_fraction("x") &&
	       fraction == 2000);
	EXPECT(!parse_fraction("0"));
	empty();
}

KTEST(pagelist, hot_frames_come_first_and_cold_ones_go_first)
{
	struct page *hot, *cold, *first;

	set_up("8");
	hot = pagelist_alloc(z, 0);
	cold = pagelist_alloc(z, 0);
	EXPECT_EQ(l->nr, l->batch - 2);
	EXPECT_EQ(z->nr_free, NR_FRAMES - l->batch);
	pagelist_free(z, hot, 0, false);
	pagelist_free(z, cold, 0, true);
	EXPECT(l->pages.next == &hot->lru && l->pages.prev == &cold->lru);
	first = pagelist_alloc(z, 0);
	EXPECT(first == hot);
	give_back(z, l, 1);
	EXPECT(l->pages.prev != &cold->lru);
	pagelist_free(z, first, 0, false);
	empty();
}

KTEST(pagelist, a_full_list_gives_a_batch_back)
{
	struct page *held[NR_FRAMES + 1];
	u32 nr = 0;

	set_up("16");
	while ((held[nr] = pagelist_alloc(z, 0)))
		nr++;
	EXPECT_EQ(nr, NR_FRAMES);
	for (u32 i = 0; i < l->high - 1; i++)
		pagelist_free(z, held[--nr], 0, false);
	EXPECT_EQ(l->nr, l->high - 1);
	EXPECT_EQ(z->nr_free, 0);
	pagelist_free(z, held[--nr], 0, false);
	EXPECT_EQ(l->nr, l->high - l->batch);
	EXPECT_EQ(z->nr_free, l->batch);
	for (; nr; nr--)
		pagelist_free(z, held[nr - 1], 0, nr & 1);
	EXPECT(l->nr < l->high);
	empty();
}

/* After any operation, each frame is held, on the list, or free, and none is lost. */
KTEST(pagelist, frames_are_in_one_place)
{
	struct page *held[NR_FRAMES + 1];
	u32 nr = 0, rnd = ktap_seed_noted();

	set_up("32");
	for (u32 i = 0; i < NR_CALLS; i++) {
		rnd = rnd * 1664525 + 1013904223;
		if (rnd >> 30 == 3 && nr)
			pagelist_free(z, held[--nr], 0, rnd >> 29 & 1);
		else if (rnd >> 24 == 17)
			pagelists_drain();
		else if (rnd >> 31 && (held[nr] = pagelist_alloc(z, 0)))
			nr++;
		else if (nr)
			pagelist_free(z, held[--nr], 0, rnd >> 28 & 1);
		EXPECT_EQ(nr + l->nr + z->nr_free, NR_FRAMES);
	}
	EXPECT_EQ(buddy_check(z), 0);
	while (nr)
		pagelist_free(z, held[--nr], 0, false);
	empty();
}
