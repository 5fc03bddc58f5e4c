/*
 * TPF: which process is protected, and when. Only the hooks are used; pages are only names, and the
 * test provides time and idle time.
 */
#include "tpf.c"

#include "../../lib/seq_file.c"
#include "../policy/fifo.c"
#include "host/fake_core.h"

#define NR 3
#define FRAMES 100
#define STEP_NS 20000000ull /* one tick */
#define OFTEN 40            /* faults per second */
#define SELDOM 5

/* Data of an address space that the fake core lacks. */
static struct {
	struct mm_struct *mm;
	u64 data[GUARD_MM_SIZE / 8];
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
	(void)mm;
	return 60;
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
		for (u32 end = pfn + rss[i]; pfn < end; pfn++)
			core_insert(&mem_map[pfn], process[i].mm, VM_IN_FAULT,
				    (struct page_id){ 0 });
	}
}

static void end(u32 i)
{
	tpf.mm_exit(process[i].mm);
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

/* Seconds pass with the processor idle for `idle` percent, and process i has rates[i] faults in
 * each second. */
static void pass(u32 seconds, u32 idle, const u32 rates[NR])
{
	for (u32 k = 1; k <= 50 * seconds; k++) {
		core_now_ns += STEP_NS;
		idle_now += STEP_NS / 100 * idle;
		for (u32 i = 0; i < NR; i++)
			for (u32 n = rates[i] * k / 50 - rates[i] * (k - 1) / 50; n; n--)
				tpf.fault(process[i].mm);
		tpf.tick();
	}
}

#define PASS(seconds, idle, ...) pass(seconds, idle, (const u32[NR]){ __VA_ARGS__ })

/* Returns how many pages of process i may be evicted when all pages are looked at once. */
static u32 taken(u32 i)
{
	struct vm_scan scan = { .zones = ZONES_ALL, .priority = 12 };
	u32 n = 0;

	for (u32 pfn = 0; pfn < max_pfn; pfn++) {
		struct mm_struct *owner = page_test(&mem_map[pfn], PG_owned) ? mem_map[pfn].owner
									     : NULL;

		n += !tpf.spare(&mem_map[pfn], owner, &scan) && owner == process[i].mm;
	}
	return n;
}

KTEST(tpf, busy_machine_protects_nobody)
{
	start();
	PASS(5, 50, OFTEN, OFTEN, OFTEN);
	EXPECT_EQ(state, MONITORING);
	EXPECT_EQ(taken(1), 30);
	stop();
}

KTEST(tpf, one_alone_is_not_protected)
{
	start();
	PASS(5, 99, OFTEN, SELDOM, 0);
	EXPECT_EQ(state, NORMAL);
	EXPECT_EQ(nr_high, 1);
	EXPECT_EQ(taken(0), 10);
	stop();
}

KTEST(tpf, many_that_fault_seldom_are_counted)
{
	u64 before = nr_too_few;

	start();
	PASS(5, 99, SELDOM, SELDOM, SELDOM);
	EXPECT_EQ(state, NORMAL);
	EXPECT(nr_too_few - before >= 4);
	stop();
}

KTEST(tpf, who_lacks_least_gives_one_page_a_round)
{
	start();
	PASS(3, 99, OFTEN, OFTEN, OFTEN);
	EXPECT_EQ(state, PROTECTION);
	EXPECT_EQ(taken(1), 1);
	EXPECT_EQ(taken(1), 1);
	EXPECT_EQ(taken(0), 10);
	EXPECT_EQ(taken(2), 20);
	stop();
}

KTEST(tpf, who_does_not_fault_often_is_not_chosen)
{
	start();
	PASS(3, 99, OFTEN, SELDOM, OFTEN);
	EXPECT_EQ(taken(1), 30);
	EXPECT_EQ(taken(2), 1);
	stop();
}

KTEST(tpf, ends_when_it_no_longer_faults)
{
	start();
	PASS(3, 99, OFTEN, OFTEN, OFTEN);
	PASS(3, 99, OFTEN, SELDOM, OFTEN);
	EXPECT_EQ(taken(1), 1);
	PASS(3, 99, OFTEN, 0, OFTEN);
	EXPECT_EQ(taken(1), 30);
	EXPECT_EQ(taken(2), 1);
	PASS(3, 99, OFTEN, 0, 0);
	EXPECT_EQ(state, NORMAL);
	stop();
}

KTEST(tpf, ends_when_the_machine_is_busy)
{
	start();
	PASS(3, 99, OFTEN, OFTEN, OFTEN);
	PASS(3, 30, OFTEN, OFTEN, OFTEN);
	EXPECT_EQ(state, PROTECTION);
	PASS(3, 10, OFTEN, OFTEN, OFTEN);
	EXPECT_EQ(state, MONITORING);
	EXPECT_EQ(taken(1), 30);
	stop();
}

KTEST(tpf, ends_with_its_process)
{
	start();
	PASS(3, 99, OFTEN, OFTEN, OFTEN);
	end(1);
	EXPECT_EQ(state, MONITORING);
	EXPECT_EQ(nr_high, 2);
	PASS(2, 99, OFTEN, 0, OFTEN);
	EXPECT_EQ(taken(2), 1);
	stop();
	EXPECT_EQ(nr_high, 0);
}
