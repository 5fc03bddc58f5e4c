/* WSClock with more than one process; tests/kernel/models has a model for one. */
#include "wsclock.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#define MS 1000000ull

static void insert_all(u32 first, u32 n, struct mm_struct *mm)
{
	for (u32 i = first; i < first + n; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, (struct page_id){ 0 });
}

/* Machine time makes no page old: only a process that runs loses pages. */
KTEST(wsclock, process_that_stands_still_keeps_its_pages)
{
	struct mm_struct *still, *runs;
	struct page *page;

	core_start(&wsclock, 6);
	still = core_mm_new();
	runs = core_mm_new();
	insert_all(0, 3, still);
	insert_all(3, 3, runs);
	core_now_ns += 5 * tau_ms * MS;
	runs->vtime_ns += 2 * tau_ms * MS;
	page_set(&mem_map[3], PG_young);
	page = core_reclaim(ZONES_ALL);
	EXPECT_EQ(page, &mem_map[4]);
	core_drop_isolated(page);
	core_stop();
}

/* A dirty old page is selected for writing, and stays; select returns the next one at once. */
KTEST(wsclock, dirty_old_pages_are_laundered)
{
	struct mm_struct *mm;
	struct vm_scan scan;

	core_start(&wsclock, 3);
	mm = core_mm_new();
	insert_all(0, 3, mm);
	page_set(&mem_map[0], PG_dirty);
	mm->vtime_ns += 2 * tau_ms * MS;
	scan = policy_scan(ZONES_ALL, 12);
	EXPECT_EQ(core_select(&scan), &mem_map[0]);
	EXPECT_EQ(scan.act, VM_LAUNDER);
	EXPECT_EQ(core_select(&scan), &mem_map[1]);
	EXPECT_EQ(scan.act, VM_EVICT);
	core_drop_isolated(&mem_map[1]);
	page_clear(&mem_map[0], PG_dirty);
	core_putback(&mem_map[0], VM_PUT_DONE);
	EXPECT_EQ(core_select(&scan), &mem_map[2]);
	EXPECT_EQ(core_select(&scan), &mem_map[0]);
	EXPECT_EQ(scan.act, VM_EVICT);
	core_drop_isolated(&mem_map[2]);
	core_drop_isolated(&mem_map[0]);
	core_stop();
}

/* The page's age is the same on its new owner's clock and in machine time. */
KTEST(wsclock, page_that_moves_keeps_its_age)
{
	struct mm_struct *first, *second;
	u32 used;

	core_start(&wsclock, 6);
	first = core_mm_new();
	second = core_mm_new();
	insert_all(0, 1, first);
	first->vtime_ns += 10 * MS;
	second->vtime_ns += 7000 * MS;
	core_now_ns += 90000 * MS;
	policy_call_moved(&mem_map[0], second);
	EXPECT_EQ(clock_of(second) - wsclock_data(&mem_map[0])->used_us, 10000);
	policy_call_moved(&mem_map[0], NULL);
	core_mm_end(second, NULL);
	core_now_ns += 5 * MS;
	used = wsclock_data(&mem_map[0])->used_us;
	EXPECT_EQ(clock_of(NULL) - used, 15000);
	core_stop();
}

/* The owner unmaps a page while the core holds it, so ->moved is not called and the age is unknown. */
KTEST(wsclock, page_that_changed_hands_while_it_was_written_counts_as_used)
{
	struct mm_struct *first, *second;
	struct page *page;

	core_start(&wsclock, 6);
	first = core_mm_new();
	second = core_mm_new();
	second->vtime_ns += 7000 * MS;
	insert_all(0, 2, first);
	first->vtime_ns += 2 * tau_ms * MS;
	page = core_reclaim(ZONES_ALL);
	EXPECT_EQ(page, &mem_map[0]);
	policy_call_moved(page, second);
	core_putback(page, VM_PUT_IOERR);
	EXPECT_EQ(wsclock_data(page)->used_us, clock_of(second));
	page = core_reclaim(ZONES_ALL);
	EXPECT_EQ(page, &mem_map[1]);
	core_putback(page, VM_PUT_IOERR);
	EXPECT_EQ(wsclock_data(page)->used_us, 0);
	core_stop();
}

static struct mm_struct *first_of_two, *last_of_two;

/* Starts two processes whose working sets fill memory. */
static void start_full(void)
{
	core_start(&wsclock, 64);
	core_frames = 64;
	first_of_two = core_mm_new();
	last_of_two = core_mm_new();
	insert_all(0, 32, first_of_two);
	insert_all(32, 32, last_of_two);
}

/* When working sets fill memory, the process activated last is stopped, and its pages are evicted. */
KTEST(wsclock, turn_without_an_old_page_stops_a_process)
{
	start_full();
	for (u32 i = 0; i < 8; i++) {
		struct page *page = core_reclaim(ZONES_ALL);

		EXPECT(page >= &mem_map[32]);
		core_drop_isolated(page);
	}
	EXPECT(wsclock_may_run(first_of_two));
	EXPECT(!wsclock_may_run(last_of_two));
	core_stop();
}

/* The process is activated when its pages fit again, here because memory has grown. */
KTEST(wsclock, stopped_process_runs_when_its_pages_fit)
{
	start_full();
	core_drop_isolated(core_reclaim(ZONES_ALL));
	EXPECT(!wsclock_may_run(last_of_two));
	core_frames = 80;
	EXPECT(wsclock_may_run(last_of_two));
	core_stop();
}

KTEST(wsclock, without_control_no_process_is_stopped)
{
	struct mm_struct *mm[2];

	core_start(&wsclock, 64);
	core_frames = 64;
	control = 0;
	for (u32 i = 0; i < 2; i++) {
		mm[i] = core_mm_new();
		insert_all(32 * i, 32, mm[i]);
	}
	EXPECT_EQ(core_reclaim(ZONES_ALL), &mem_map[0]);
	EXPECT(wsclock_may_run(mm[0]) && wsclock_may_run(mm[1]));
	core_drop_isolated(&mem_map[0]);
	control = 1;
	core_stop();
}
