/* MGLRU: the generation in which a page begins. */
#include "mglru.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

static u32 seq_of(struct page *page)
{
	struct mglru_page *p = mglru_data(page);

	return max_seq - (max_seq % MAX_GENS + MAX_GENS - (u32)(p->gen - gens[p->kind])) % MAX_GENS;
}

KTEST(mglru, what_a_fault_reads_ahead_is_as_young_as_what_it_asked_for)
{
	struct page *asked_for, *ahead, *by_call;

	core_start(&mglru, 10);
	asked_for = &mem_map[1];
	ahead = &mem_map[2];
	by_call = &mem_map[3];
	page_set(by_call, PG_slab); /* of a file */
	core_insert(asked_for, core_mm_new(), VM_IN_FAULT, (struct page_id){ 0 });
	core_insert(ahead, NULL, VM_IN_PREFETCH, (struct page_id){ 1, 7 });
	core_insert(by_call, NULL, VM_IN_READ, (struct page_id){ 2, 1 });
	EXPECT_EQ(seq_of(asked_for), max_seq);
	EXPECT_EQ(seq_of(ahead), max_seq);
	EXPECT_EQ(seq_of(by_call), min_seq[FILES]);
	core_stop();
}

/* Tiers count uses by system calls and by mappings that have ended. */
KTEST(mglru, mapping_that_goes_has_used_its_page_once_if_at_all)
{
	struct page *page;
	struct mm_struct *mm;

	core_start(&mglru, 10);
	page = &mem_map[3];
	mm = core_mm_new();
	page_set(page, PG_slab); /* of a file */
	core_insert(page, NULL, VM_IN_READ, (struct page_id){ 2, 1 });
	policy_call_moved(page, mm);
	EXPECT_EQ(mglru_data(page)->refs, 1);
	policy_call_moved(page, NULL);
	EXPECT_EQ(mglru_data(page)->refs, 1);
	policy_call_moved(page, mm);
	page_set(page, PG_young);
	policy_call_moved(page, NULL);
	EXPECT_EQ(mglru_data(page)->refs, 2);
	EXPECT(!page_young(page));
	EXPECT_EQ(seq_of(page), min_seq[FILES]);
	core_stop();
}
