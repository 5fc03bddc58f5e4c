/* MGLRU, by its generations: where a page begins. */
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
