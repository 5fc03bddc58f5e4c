/*
 * mc74: which process's pages are activated, when, and that the hints do to 2q's pages what
 * activate_page does to Linux's (figure 7.4 of the report).
 */
#include "mc74.c"

#include "../../lib/seq_file.c"
#include "../policy/2q.c"
#include "host/fake_core.h"

#define NR 2
#define EACH 40
#define IN_SWAP ((struct page_id){ 1, 1 }) /* pages read from there are inactive */

static struct mm_struct *process[NR];
static bool queue_empty;

struct mm_struct *vm_queued(bool last)
{
	return queue_empty ? NULL : process[last];
}

/* Starts two processes with 40 inactive pages each, of which every second is referenced. The last
 * scan had this priority. */
static void start(int priority)
{
	struct vm_scan scan = { .zones = ZONES_ALL, .priority = priority };

	core_start(&twoq, NR * EACH);
	for (u32 pfn = 0; pfn < NR * EACH; pfn++) {
		if (pfn % EACH == 0)
			process[pfn / EACH] = core_mm_new();
		core_insert(&mem_map[pfn], process[pfn / EACH], VM_IN_FAULT, IN_SWAP);
		twoq_data(&mem_map[pfn])->referenced = pfn % 2;
	}
	queue_empty = false;
	pagegrab = MC_ALL;
	nr_dirty = 0;
	EXPECT(!mc74.spare(&mem_map[0], process[0], &scan));
}

static u32 nr_active(u32 i)
{
	u32 n = 0;

	for (u32 pfn = i * EACH; pfn < (i + 1) * EACH; pfn++)
		n += twoq_data(&mem_map[pfn])->list == ACTIVE;
	return n;
}

KTEST(mc74, activates_the_pages_of_the_last_with_the_flag_they_have)
{
	start(3);
	mc74.fault(process[0]);
	EXPECT_EQ(nr_active(0), 0);
	EXPECT_EQ(nr_active(1), EACH);
	for (u32 pfn = 0; pfn < NR * EACH; pfn++)
		EXPECT_EQ(twoq_data(&mem_map[pfn])->referenced, pfn % 2);
	core_stop();
}

KTEST(mc74, so_many_at_a_fault_and_goes_on_there)
{
	start(0);
	pagegrab = 16;
	for (u32 done = 16; done < EACH; done += 16) {
		mc74.fault(process[0]);
		EXPECT_EQ(nr_active(1), done);
	}
	mc74.fault(process[0]);
	EXPECT_EQ(nr_active(1), EACH);
	core_stop();
}

/* Of 80 frames, five dirty pages in a row are 1/16: the priority is below 4. A clean page ends the row. */
KTEST(mc74, dirty_pages_lower_the_priority)
{
	static const struct vm_scan calm = { .zones = ZONES_ALL, .priority = 12 };
	u32 looks = 0;

	start(12);
	EXPECT_EQ(mc_priority(0), 12);
	for (int priority = 12; priority >= 4; looks++) {
		mc74.fault(process[0]);
		EXPECT_EQ(nr_active(1), 0);
		page_set(&mem_map[0], PG_dirty);
		mc74.spare(&mem_map[0], process[0], &calm);
		priority = last_priority;
	}
	EXPECT_EQ(looks, (NR * EACH >> 4) + 1);
	page_clear(&mem_map[0], PG_dirty);
	mc74.spare(&mem_map[0], process[0], &calm);
	mc74.fault(process[0]);
	EXPECT_EQ(nr_active(1), 0);
	page_set(&mem_map[0], PG_dirty);
	while (last_priority >= 4)
		mc74.spare(&mem_map[0], process[0], &calm);
	mc74.fault(process[0]);
	EXPECT_EQ(nr_active(1), EACH);
	core_stop();
}

KTEST(mc74, does_nothing_while_calm_or_with_nobody_in_the_queue)
{
	start(4);
	mc74.fault(process[0]);
	EXPECT_EQ(nr_active(1), 0);
	core_stop();
	start(3);
	queue_empty = true;
	mc74.fault(process[0]);
	EXPECT_EQ(nr_active(0) + nr_active(1), 0);
	core_stop();
}
