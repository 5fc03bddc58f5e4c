/* Clock2Q+: the queue of a page that the core puts back. */
#include "clock2q.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#define NR 40

/* Selects a page and puts it back. Returns its new queue; *from: the old one. */
static int back_to(enum vm_put why, int *from)
{
	struct page *page = core_reclaim(ZONES_ALL);

	*from = c2q_data(page)->queue;
	core_putback(page, why);
	return c2q_data(page)->queue;
}

KTEST(clock2q, page_that_is_put_back_goes_to_main_if_it_was_used_or_came_from_there)
{
	int from;

	core_start(&clock2q, NR);
	core_mm_new();
	for (u32 i = 0; i < NR; i++)
		core_insert(&mem_map[i], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
	EXPECT_EQ(back_to(VM_PUT_BUSY, &from), SMALL);
	EXPECT_EQ(from, SMALL);
	EXPECT_EQ(back_to(VM_PUT_USED, &from), MAIN);
	EXPECT_EQ(from, SMALL);
	EXPECT_EQ(back_to(VM_PUT_BUSY, &from), MAIN); /* small has less than its share */
	EXPECT_EQ(from, MAIN);
	core_stop();
}
