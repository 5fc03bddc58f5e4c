/*
 * The token: which process's pages are spared, and when. Only the hooks are used, so that any guard
 * of this name can be tested; pages are only names, and the test provides time and idle time.
 */
#include "token.c"

#include "../../lib/seq_file.c"
#include "../policy/fifo.c"
#include "host/fake_core.h"

#define NR 3
#define FRAMES 100
#define SECOND 1000000000ull

/* Data of an address space that the fake core lacks. */
static struct {
	struct mm_struct *mm;
	u64 data[GUARD_MM_SIZE / 8];
	u32 demand;
} process[NR];
static u64 idle_now;

static u32 index_of(struct mm_struct *mm)
{
	u32 i = 0;

	while (process[i].mm != mm)
		i++;
	return i;
}

u32 mm_demand(struct mm_struct *mm)
{
	return process[index_of(mm)].demand;
}

u32 mm_pid(struct mm_struct *mm)
{
	return index_of(mm) + 2;
}

u64 vm_idle(void)
{
	return idle_now;
}

/* Starts three processes that demand 60 pages each and have 10, 30 and 20. */
static void start(void)
{
	static const u32 rss[NR] = { 10, 30, 20 };

	core_start(&fifo, FRAMES);
	for (u32 i = 0, pfn = 0; i < NR; i++) {
		memset(&process[i], 0, sizeof(process[i]));
		process[i].mm = core_mm_new();
		process[i].demand = 60;
		for (u32 end = pfn + rss[i]; pfn < end; pfn++)
			core_insert(&mem_map[pfn], process[i].mm, VM_IN_FAULT,
				    (struct page_id){ 0 });
	}
}

static void end(u32 i)
{
	if (token.mm_exit)
		token.mm_exit(process[i].mm);
	core_mm_end(process[i].mm, NULL);
	process[i].mm = NULL;
}

static void stop(void)
{
	for (u32 i = 0; i < NR; i++)
		if (process[i].mm)
			end(i);
	core_stop();
}

/* Seconds pass with the processor idle for `idle` percent. In each second, the first nr processes
 * fault ten times each, in alternation. */
static void pass(u32 seconds, u32 idle, u32 nr)
{
	for (u32 k = 0; k < 10 * seconds; k++) {
		core_now_ns += SECOND / 10;
		idle_now += SECOND / 1000 * idle;
		for (u32 i = 0; i < nr; i++)
			if (process[i].mm && token.fault)
				token.fault(process[i].mm);
	}
}

/* Returns a bit for each process whose pages are spared. */
static u32 spared(void)
{
	struct vm_scan scan = { .zones = ZONES_ALL, .priority = 12 };
	u32 set = 0;

	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		if (page_test(&mem_map[pfn], PG_owned) &&
		    token.spare(&mem_map[pfn], mem_map[pfn].owner, &scan))
			set |= 1u << index_of(mem_map[pfn].owner);
	return set;
}

KTEST(token, busy_machine_spares_nobody)
{
	start();
	pass(5, 10, NR);
	EXPECT_EQ(spared(), 0);
	stop();
}

KTEST(token, one_that_waits_alone_is_not_spared)
{
	start();
	pass(5, 99, 1);
	EXPECT_EQ(spared(), 0);
	stop();
}

KTEST(token, thrashing_spares_the_one_that_lacks_least)
{
	start();
	pass(3, 99, NR);
	EXPECT_EQ(spared(), 1u << 1);
	stop();
}

KTEST(token, stays_until_the_machine_is_busy)
{
	start();
	pass(3, 99, NR);
	pass(2, 40, NR);
	EXPECT_EQ(spared(), 1u << 1);
	pass(3, 5, NR);
	EXPECT_EQ(spared(), 0);
	stop();
}

KTEST(token, end_of_the_holder_passes_it_on)
{
	start();
	pass(3, 99, NR);
	end(1);
	EXPECT_EQ(spared(), 0);
	pass(3, 99, NR);
	EXPECT_EQ(spared(), 1u << 2);
	stop();
}

KTEST(token, every_turn_is_over_some_time)
{
	start();
	pass(3, 99, NR);
	EXPECT_EQ(spared(), 1u << 1);
	for (u32 i = 0; i < 3600 && spared() == 1u << 1; i++)
		pass(1, 99, NR);
	EXPECT_EQ(spared(), 1u << 2);
	stop();
}

KTEST(token, pages_of_nobody_are_not_spared)
{
	struct vm_scan scan = { .zones = ZONES_ALL, .priority = 12 };

	start();
	pass(3, 99, NR);
	EXPECT(!token.spare(&mem_map[FRAMES - 1], NULL, &scan));
	stop();
}

KTEST(token, who_is_much_larger_than_memory_gets_none)
{
	start();
	for (u32 i = 0; i < NR; i++)
		process[i].demand = 2 * FRAMES;
	pass(3, 99, NR);
	EXPECT_EQ(spared(), 0);
	process[0].demand = FRAMES;
	pass(3, 99, NR);
	EXPECT_EQ(spared(), 1u << 0);
	stop();
}
