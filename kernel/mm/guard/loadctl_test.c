/* Load control: which process is suspended when memory is short, and when none is. */
#include "loadctl.c"

#include "../../lib/seq_file.c"
#include "../policy/fifo.c"
#include "host/fake_core.h"

#define FRAMES 100
#define SECOND 1000000000ull

static u64 idle_now;

u32 mm_demand(struct mm_struct *mm)
{
	return mm->sleeps ? 0 : 2 * FRAMES;
}

u64 vm_idle(void)
{
	return idle_now;
}

/* Lets a second pass in which memory is short, all processes fault, and none runs. */
static void short_second(void)
{
	for_each_process(mm) loadctl.fault(mm);
	loadctl.pressure(false);
	core_now_ns += SECOND;
	idle_now += SECOND;
	loadctl.tick();
}

/* Starts two processes with 20 and 30 pages. */
static void start(void)
{
	static const u32 rss[] = { 20, 30 };

	core_start(&fifo, FRAMES);
	nr_out = nr_suspended = 0;
	for (u32 i = 0, pfn = 0; i < ARRAY_SIZE(rss); i++) {
		core_mm_new();
		for (u32 end = pfn + rss[i]; pfn < end; pfn++)
			core_insert(&mem_map[pfn], core_mm(i), VM_IN_FAULT, (struct page_id){ 0 });
	}
	short_of_memory = false;
	window_ns = core_now_ns;
	idle_ns = idle_now;
}

KTEST(loadctl, of_two_that_want_to_run_one_is_suspended)
{
	start();
	short_second();
	EXPECT_EQ(nr_out, 1);
	short_second();
	EXPECT_EQ(nr_out, 1); /* one always remains */
	core_stop();
}

KTEST(loadctl, who_alone_wants_to_run_is_not)
{
	start();
	core_mm(0)->sleeps = true;
	short_second();
	EXPECT_EQ(nr_suspended, 0);
	core_stop();
}

KTEST(loadctl, who_ends_is_not_out_any_more)
{
	u32 out;

	start();
	short_second();
	out = data(core_mm(1))->out;
	loadctl.mm_exit(core_mm(!out));
	EXPECT_EQ(nr_out, 1);
	loadctl.mm_exit(core_mm(out));
	EXPECT_EQ(nr_out, 0);
	core_stop();
}

KTEST(loadctl, who_is_out_takes_anothers_place_when_its_time_is_over)
{
	u32 out;

	start();
	short_second();
	out = data(core_mm(1))->out;
	core_now_ns += out_ms * 1000000ull;
	loadctl.tick();
	EXPECT(data(core_mm(out))->out);
	core_now_ns++;
	loadctl.tick();
	EXPECT(!data(core_mm(out))->out);
	EXPECT(data(core_mm(!out))->out);
	core_stop();
}
