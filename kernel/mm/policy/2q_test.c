/* 2Q: the states of both kinds of pages, the shares of a scan, zones. */
#include "2q.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

static struct mm_struct *mm;

static void start(u32 nr_frames)
{
	core_start(&twoq, nr_frames);
	mm = core_mm_new();
}

static void insert(u32 pfn, enum vm_in how, u32 store)
{
	core_insert(&mem_map[pfn], how == VM_IN_READ ? NULL : mm, how,
		    (struct page_id){ store, pfn + 1 });
}

/* This is how the host's core marks a page of a file. */
static void insert_file(u32 pfn, enum vm_in how)
{
	page_set(&mem_map[pfn], PG_slab);
	mem_map[pfn].slot = pfn + 1;
	insert(pfn, how, page_id_of(&mem_map[pfn]).store);
}

static bool in_state(u32 pfn, enum twoq_list list, bool referenced)
{
	struct twoq_page *p = twoq_data(&mem_map[pfn]);

	return p->list == list && p->referenced == referenced;
}

KTEST(2q, new_anonymous_page_is_active_and_one_from_swap_is_not)
{
	start(2);
	insert(0, VM_IN_FAULT, 0);
	insert(1, VM_IN_FAULT, 1);
	EXPECT(in_state(0, ACTIVE, false));
	EXPECT(in_state(1, INACTIVE, false));
	core_stop();
}

KTEST(2q, page_of_a_file_proves_itself_step_by_step)
{
	start(2);
	insert_file(0, VM_IN_READ);
	EXPECT(in_state(0, INACTIVE, true));
	core_touch(&mem_map[0], VM_TOUCH_IO);
	EXPECT(in_state(0, ACTIVE, false));
	core_touch(&mem_map[0], VM_TOUCH_IO);
	EXPECT(in_state(0, ACTIVE, true));
	core_touch(&mem_map[0], VM_TOUCH_DONTNEED);
	EXPECT(in_state(0, INACTIVE, false));
	insert_file(1, VM_IN_FAULT);
	core_touch(&mem_map[1], VM_TOUCH_MINOR);
	EXPECT(in_state(1, INACTIVE, false));
	core_stop();
}

KTEST(2q, fault_is_a_use_when_the_page_is_first_looked_at)
{
	start(2);
	insert(0, VM_IN_FAULT, 1);
	insert(1, VM_IN_PREFETCH, 1);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[1]);
	EXPECT(in_state(0, ACTIVE, false));
	EXPECT_EQ(nr_activated, 1);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[0]);
	core_drop_isolated(&mem_map[0]);
	core_drop_isolated(&mem_map[1]);
	core_stop();
}

KTEST(2q, active_list_gives_up_its_tail_used_or_not)
{
	start(4);
	for (u32 i = 0; i < 4; i++) {
		insert(i, VM_IN_FAULT, 0);
		page_set(&mem_map[i], PG_young);
	}
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[0]);
	EXPECT(in_state(1, INACTIVE, false));
	EXPECT(in_state(3, ACTIVE, false));
	core_drop_isolated(&mem_map[0]);
	core_stop();
}

KTEST(2q, kind_that_is_in_use_is_left_alone)
{
	u32 taken[NR_KINDS] = { 0 };

	start(200);
	for (u32 i = 0; i < 200; i++) {
		if (i < 100)
			insert(i, VM_IN_PREFETCH, 1);
		else
			insert_file(i, VM_IN_PREFETCH);
	}
	for (u32 i = 0; i < 50; i++) {
		struct page *page = core_reclaim(ZONES_ALL);

		taken[page_is_file(page) ? FILES : ANON]++;
		core_drop_isolated(page);
	}
	EXPECT(taken[ANON] > 10 && taken[ANON] < 20); /* 60 of 200 */
	zone[ZONE_NORMAL].kind[FILES].rotated = zone[ZONE_NORMAL].kind[FILES].scanned;
	taken[ANON] = 0;
	for (u32 i = 0; i < 20; i++) {
		struct page *page = core_reclaim(ZONES_ALL);

		taken[ANON] += !page_is_file(page);
		core_drop_isolated(page);
	}
	EXPECT(taken[ANON] > 10);
	core_stop();
}

KTEST(2q, zones_share_the_pressure_by_size)
{
	u32 taken[2] = { 0 };

	start(400);
	for (u32 i = 0; i < 400; i++) {
		core_set_zone(i, i < 100 ? ZONE_DMA : ZONE_NORMAL);
		insert(i, VM_IN_PREFETCH, 1);
	}
	for (u32 i = 0; i < 200; i++) {
		struct page *page = core_reclaim(ZONES_ALL);

		taken[page >= &mem_map[100]]++;
		core_putback(page, VM_PUT_BUSY);
	}
	EXPECT(taken[0] > 30 && taken[0] < 70);
	for (u32 i = 0; i < 100; i++) {
		struct page *page = core_reclaim(1u << ZONE_DMA);

		EXPECT(page && page < &mem_map[100]);
		core_drop_isolated(page);
	}
	EXPECT(!core_reclaim(1u << ZONE_DMA));
	core_stop();
}

KTEST(2q, takes_first_what_is_not_needed)
{
	start(8);
	for (u32 i = 0; i < 6; i++)
		insert(i, VM_IN_PREFETCH, 1);
	core_touch(&mem_map[3], VM_TOUCH_DONTNEED);
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[3]);
	core_drop_isolated(&mem_map[3]);
	core_stop();
}

KTEST(2q, ratio_grows_with_the_zone)
{
	EXPECT_EQ(ratio_of(1 << 17), 1);
	EXPECT_EQ(ratio_of(1 << 18), 3);
	EXPECT_EQ(ratio_of(1 << 19), 4);
}

static struct twoq_lists *lists_of(u32 pfn)
{
	return twoq_data(&mem_map[pfn])->lists;
}

/* Shared memory has the identity of a file, but is written to the swap area. */
KTEST(2q, shared_memory_is_on_the_anonymous_lists)
{
	start(4);
	insert(0, VM_IN_READ, 3);
	insert(1, VM_IN_FAULT, 3);
	EXPECT(lists_of(0)->kind == ANON && in_state(0, INACTIVE, true));
	EXPECT(lists_of(1)->kind == ANON && in_state(1, INACTIVE, false));
	insert_file(2, VM_IN_FAULT);
	EXPECT(lists_of(2)->kind == FILES);
	core_stop();
}

/* zap_pte_range */
KTEST(2q, mapping_that_goes_has_used_its_page_once_if_at_all)
{
	start(4);
	insert_file(0, VM_IN_FAULT);
	policy_call_moved(&mem_map[0], NULL);
	EXPECT(in_state(0, INACTIVE, true)); /* referenced by the fault */
	policy_call_moved(&mem_map[0], mm);
	policy_call_moved(&mem_map[0], NULL);
	EXPECT(in_state(0, INACTIVE, true)); /* mapped, but not used */
	policy_call_moved(&mem_map[0], mm);
	page_set(&mem_map[0], PG_young);
	policy_call_moved(&mem_map[0], core_mm_new());
	EXPECT(in_state(0, ACTIVE, false));
	core_stop();
}

KTEST(2q, anonymous_page_that_passes_to_another_process_is_not_marked)
{
	start(4);
	insert(0, VM_IN_FAULT, 1);
	page_set(&mem_map[0], PG_young);
	policy_call_moved(&mem_map[0], core_mm_new());
	EXPECT(in_state(0, INACTIVE, false) && twoq_data(&mem_map[0])->young);
	EXPECT(page_young(&mem_map[0]));
	core_stop();
}
