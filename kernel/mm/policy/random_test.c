/* Random: the same seed gives the same draws each time the policy is switched on. */
#include "random.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#define NR 64

/* Records the order in which the pages are selected. */
static void draw(u32 order[NR])
{
	struct mm_struct *mm;

	core_start(&random_policy, NR);
	mm = core_mm_new();
	for (u32 i = 0; i < NR; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
	for (u32 i = 0; i < NR; i++) {
		struct page *page = core_reclaim(ZONES_ALL);

		order[i] = page - mem_map;
		core_drop_isolated(page);
	}
	core_stop();
}

KTEST(random, draws_the_same_when_it_is_switched_on_again)
{
	static u32 first[NR], second[NR];

	draw(first);
	draw(second);
	EXPECT(!memcmp(first, second, sizeof(first)));
	seed = 2;
	draw(second);
	EXPECT(memcmp(first, second, sizeof(first)));
	seed = 1;
}
