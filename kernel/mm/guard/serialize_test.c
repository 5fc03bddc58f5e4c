/* Serialize: what the disk is asked for in a turn, and that room is made for it first. */
#include "serialize.c"

#include "../../lib/seq_file.c"
#include "../policy/fifo.c"
#include "host/fake_core.h"

#define FRAMES 100
#define DEMAND 80
#define MS 1000000ull

static u64 idle_now;
static u32 nr_free, asked_for, nr_reads_ahead;

u32 mm_demand(struct mm_struct *mm)
{
	(void)mm;
	return DEMAND;
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

static void passes(u32 ms)
{
	core_now_ns += ms * MS;
	idle_now += ms * MS;
	serialize.tick();
}

/* One with 60 pages of 80 runs, another with 30 waits; and who runs reads back what it lacks. */
static void start(void)
{
	core_start(&fifo, FRAMES);
	nr_free = asked_for = nr_reads_ahead = 0;
	window_ns = core_now_ns;
	idle_ns = idle_now;
	for (u32 i = 0; i < 2; i++)
		core_mm_new();
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

/* It lacks 20: twice an eighth of memory is more than that, and then faults go on alone. */
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
