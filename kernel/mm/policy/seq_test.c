/* SEQ: which sequence a fault extends, and which page of it is evicted. */
#include "seq.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#define NR 80

static const struct page_id new_page;

/* The process faults on `n` pages, from this number on, upwards or downwards. Their frames are from `pfn` on. */
static void faults(struct mm_struct *mm, u32 pfn, u32 number, int step, u32 n)
{
	for (u32 i = 0; i < n; i++, number += step) {
		mem_map[pfn + i].index = number;
		core_insert(&mem_map[pfn + i], mm, VM_IN_FAULT, new_page);
	}
}

static u32 evict(void)
{
	struct page *page = core_reclaim(ZONES_ALL);

	core_drop_isolated(page);
	return page->index;
}

/* Of 30 pages 20 are near the head. CLOCK would take number 100 first. */
KTEST(seq, evicts_behind_the_head_and_on_to_the_tail)
{
	core_start(&seq, NR);
	faults(core_mm_new(), 0, 100, 1, 30);
	EXPECT_EQ(evict(), 109);
	EXPECT_EQ(evict(), 108);
	faults(core_mm(0), 30, 130, 1, 1);
	EXPECT_EQ(evict(), 110);
	for (u32 number = 107; number >= 100; number--)
		EXPECT_EQ(evict(), number);
	EXPECT_EQ(evict(), 111); /* all are near: CLOCK's turn */
	core_stop();
}

KTEST(seq, goes_downwards_too)
{
	core_start(&seq, NR);
	faults(core_mm_new(), 0, 200, -1, 30);
	EXPECT_EQ(evict(), 191);
	core_stop();
}

KTEST(seq, is_clock_until_a_sequence_is_long)
{
	core_start(&seq, NR);
	faults(core_mm_new(), 0, 500, 1, 2);
	faults(core_mm(0), 2, 100, 1, 19);
	EXPECT_EQ(evict(), 500);
	distance = 18;
	EXPECT_EQ(evict(), 501);
	EXPECT_EQ(evict(), 100);
	faults(core_mm(0), 21, 119, 1, 3);
	EXPECT_EQ(evict(), 103);
	core_stop();
	distance = 20;
}

/* The fault begins a sequence of one page; the rest of the old one is still long. */
KTEST(seq, fault_inside_a_sequence_ends_it_there)
{
	core_start(&seq, NR);
	faults(core_mm_new(), 0, 100, 1, 60);
	for (u32 number = 139; number > 129; number--)
		EXPECT_EQ(evict(), number);
	faults(core_mm(0), 60, 130, 1, 1);
	EXPECT_EQ(table[seq_data(&mem_map[60])->sequence - 1].length, 1);
	EXPECT_EQ(seq_data(&mem_map[59])->sequence, 0);
	EXPECT_EQ(evict(), 109); /* 129 is the head now */
	core_stop();
}

/* Both have the same numbers. The second process faulted later, but its fifth most recent fault is older. */
KTEST(seq, takes_from_the_sequence_whose_nth_fault_is_latest)
{
	struct mm_struct *mm[2];

	core_start(&seq, NR);
	for (u32 i = 0; i < 2; i++)
		mm[i] = core_mm_new();
	faults(mm[1], 0, 100, 1, 30);
	faults(mm[0], 30, 100, 1, 30);
	faults(mm[1], 60, 130, 1, 4);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[39]);
	core_drop_isolated(&mem_map[39]);
	faults(mm[1], 64, 134, 1, 1);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[14]);
	core_drop_isolated(&mem_map[14]);
	core_stop();
}

KTEST(seq, forgets_the_sequences_of_a_process_that_ends)
{
	core_start(&seq, NR);
	for (u32 i = 0; i < 2; i++)
		core_mm_new();
	faults(core_mm(0), 0, 100, 1, 30);
	core_mm_end(core_mm(0), core_mm(1));
	EXPECT_EQ(nr_long, 0);
	EXPECT_EQ(seq_data(&mem_map[5])->sequence, 0);
	EXPECT_EQ(evict(), 100);
	core_stop();
}

/* Single pages cannot push out a long sequence; of long ones there are at most half as many as places. */
KTEST(seq, table_keeps_long_sequences_but_not_too_many)
{
	core_start(&seq, NR);
	core_mm_new();
	min_length = 2;
	for (u32 i = 0; i < 2 * NR_SEQUENCES; i++)
		faults(core_mm(0), i, 1000 + 10 * (i / 2) + i % 2, 1, 1);
	EXPECT_EQ(nr_long, NR_SEQUENCES / 2);
	EXPECT_EQ(vm_list_length(&long_ones) + vm_list_length(&short_ones), (int)NR_SEQUENCES);
	EXPECT_EQ(list_last_entry(&long_ones, struct sequence, node)->head,
		  1000 + 10 * (NR_SEQUENCES / 2) + 1);
	min_length = 20;
	core_stop();
}

/* Pages in DMA are next under the hand of CLOCK; the long sequence has none. */
KTEST(seq, looks_at_few_pages_of_a_sequence_that_the_scan_may_not_take)
{
	struct vm_scan scan;
	struct page *page;

	core_start(&seq, NR);
	for (u32 i = 0; i < 10; i++)
		core_set_zone(i, ZONE_DMA);
	faults(core_mm_new(), 0, 500, 2, 10);
	faults(core_mm(0), 10, 100, 1, 60);
	scan = policy_scan(1 << ZONE_DMA, DEF_PRIORITY);
	page = core_select(&scan);
	EXPECT_EQ(page, &mem_map[0]);
	if (page)
		core_drop_isolated(page);
	core_stop();
}
