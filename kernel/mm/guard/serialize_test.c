/* Serialize: which processes take turns, and what is requested of the disk in a turn. */
#include "serialize.c"

#include "../../lib/seq_file.c"
#include "../policy/fifo.c"
#include "host/fake_core.h"

#define FRAMES 100
#define DEMAND 80
#define MS 1000000ull

static u64 idle_now;
static u32 nr_free, asked_for, nr_reads_ahead;
static struct mm_struct *large; /* demands more than memory */
static struct mm_struct *idler; /* has touched a page of its memory */

u32 mm_demand(struct mm_struct *mm)
{
	return mm == large ? FRAMES + 1 : DEMAND;
}

u32 mm_touched(struct mm_struct *mm)
{
	return mm == idler ? 1 : mm_demand(mm);
}

u32 mm_pid(struct mm_struct *mm)
{
	(void)mm;
	return 1;
}

u64 vm_idle(void)
{
	return idle_now;
}

u32 vm_free(u32 times)
{
	(void)times;
	return nr_free;
}

void vm_make_room(u32 nr)
{
	asked_for = nr;
}

void vm_prepage(struct mm_struct *mm)
{
	(void)mm;
	nr_reads_ahead++;
}

static u32 nr_some;

void vm_prepage_some(struct mm_struct *mm, u32 nr)
{
	EXPECT(mm == ahead);
	nr_some = nr;
}

static void passes(u32 ms)
{
	core_now_ns += ms * MS;
	idle_now += ms * MS;
	serialize.tick();
}

static void start_with(u32 nr_processes)
{
	core_start(&fifo, FRAMES);
	nr_free = asked_for = nr_reads_ahead = nr_begun = max_small = 0;
	window_ns = core_now_ns;
	idle_ns = idle_now;
	large = idler = NULL;
	while (nr_processes--)
		core_mm_new();
}

/* Starts two processes: one has 60 of its 80 pages, runs, and reads back the others; one with 30
 * waits. */
static void start(void)
{
	start_with(2);
	for (u32 pfn = 0; pfn < 90; pfn++)
		core_insert(&mem_map[pfn], core_mm(pfn >= 60), VM_IN_FAULT, (struct page_id){ 0 });
	serialize.fault(core_mm(0));
	serialize.fault(core_mm(1));
	passes(window_ms);
	EXPECT(serial && runs == core_mm(0));
	for (int i = 0; i < READS; i++)
		serialize.fault(runs);
}

static void end(void)
{
	stop();
	core_stop();
}

KTEST(serialize, room_is_made_before_pages_are_read)
{
	start();
	passes(1);
	EXPECT_EQ(asked_for, FRAMES / 8);
	EXPECT_EQ(nr_reads_ahead, 0);
	end();
}

/* The process lacks 20 pages. Two reads of an eighth of memory exceed that; then only faults read. */
KTEST(serialize, no_more_is_read_than_is_lacking)
{
	start();
	nr_free = 50;
	for (int i = 0; i < 5; i++)
		passes(1);
	EXPECT_EQ(nr_reads_ahead, 2);
	EXPECT_EQ(asked_for, 0);
	end();
}

/* Two processes of 80 pages do not fit into 100 frames; while one computes with all of its pages, the
 * frames that it leaves take pages of the other. */
KTEST(serialize, the_next_gets_what_the_running_one_leaves)
{
	start();
	for (u32 pfn = 60; pfn < 80; pfn++) {
		core_remove(&mem_map[pfn], VM_OUT_FREED);
		core_insert(&mem_map[pfn], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
	}
	nr_some = 0;
	nr_free = FRAMES / 8 - 1;
	core_now_ns += MS;
	serialize.tick();
	EXPECT_EQ(nr_some, 0);
	nr_free = 15;
	core_now_ns += MS;
	serialize.tick();
	EXPECT_EQ(nr_some, 15);
	end();
}

KTEST(serialize, pages_are_still_read_after_the_turns)
{
	start();
	nr_free = 50;
	stop();
	nr_reads_ahead = 0;
	for (int i = 0; i < BACK; i++)
		EXPECT(serialize.tick());
	EXPECT_EQ(nr_reads_ahead, 2 * BACK);
	EXPECT(!serialize.tick());
	core_stop();
}

/* Lets a window pass in which every process has to read pages and the processor is idle. */
static void all_fault(void)
{
	for (u32 i = 0; core_mm(i); i++)
		serialize.fault(core_mm(i));
	passes(window_ms);
}

KTEST(serialize, one_that_touches_little_never_waits)
{
	start_with(3);
	idler = core_mm(2);
	all_fault();
	EXPECT(serial && runs != idler && serialize.may_run(idler));
	EXPECT(!serialize.may_run(runs == core_mm(0) ? core_mm(1) : core_mm(0)));
	end();
}

KTEST(serialize, one_that_touches_little_keeps_its_pages_before_the_turns)
{
	start_with(3);
	idler = core_mm(2);
	EXPECT(!serialize.spare(&mem_map[0], idler, NULL));
	serialize.pressure(false);
	EXPECT(!serial && serialize.spare(&mem_map[0], idler, NULL));
	EXPECT(!serialize.spare(&mem_map[0], core_mm(0), NULL));
	core_mm_end(core_mm(0), NULL);
	serialize.pressure(false); /* one other does not compete with anything */
	EXPECT(!serialize.spare(&mem_map[0], idler, NULL));
	end();
}

KTEST(serialize, one_that_fits_needs_no_turn)
{
	start_with(2);
	large = core_mm(0);
	all_fault();
	EXPECT(!serial && !nr_begun);
	EXPECT(serialize.may_run(core_mm(0)) && serialize.may_run(core_mm(1)));
	end();
}

KTEST(serialize, one_larger_than_memory_runs_beside_the_turns)
{
	start_with(3);
	large = core_mm(0);
	all_fault();
	EXPECT(serial && runs && runs != large);
	EXPECT(serialize.may_run(large));
	EXPECT(serialize.may_run(core_mm(1)) != serialize.may_run(core_mm(2)));
	for (u32 turn = 0; turn < 10; turn++) {
		passes(turn_ms + 1);
		EXPECT(serial && runs != large);
	}
	end();
}

KTEST(serialize, turns_end_when_one_is_left)
{
	start_with(3);
	large = core_mm(0);
	all_fault();
	EXPECT(serial);
	core_mm_end(runs, NULL);
	passes(1);
	EXPECT(!serial && !runs);
	end();
}

KTEST(serialize, one_that_grows_larger_than_memory_leaves_the_turns)
{
	start_with(3);
	all_fault();
	EXPECT(serial && !large);
	large = runs;
	passes(turn_ms + 1);
	EXPECT(serial && runs != large && serialize.may_run(large));
	end();
}
