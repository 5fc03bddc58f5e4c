/*
 * Swap prefetch: which pages it requests, when, and whether it lets the machine sleep. Only the
 * hooks are used; the test provides time, idle time and free memory.
 */
#include "prefetch.c"

#include "../../lib/seq_file.c"
#include "../policy/fifo.c"
#include "host/fake_core.h"

#define FRAMES 90 /* so it remembers 61 pages */
#define SECOND 10 /* in ticks */
#define MUCH 1000 /* in frames */
#define MAX_ASKED 1000

static u64 idle_now;
static u32 room;             /* the result of vm_free */
static u32 asked[MAX_ASKED]; /* slots, in order of the requests */
static u32 n_asked;

u64 vm_idle(void)
{
	return idle_now;
}

u32 vm_free(u32 times)
{
	return room > times ? room - times : 0;
}

bool vm_prefetch(struct page_id id)
{
	asked[n_asked++] = id.index;
	return true;
}

static void start(void)
{
	core_start(&fifo, FRAMES);
	EXPECT_EQ(prefetch.init(), 0);
	room = MUCH;
	n_asked = 0;
}

static void stop(void)
{
	ghosts_exit(&swapped);
	core_stop();
}

/* Evicts pages to these slots, in this order. */
static void evict(u32 first, u32 last)
{
	for (u32 slot = first; slot <= last; slot++)
		prefetch.evicted(&mem_map[0], NULL, (struct page_id){ 1, slot });
}

/* Ticks pass with the processor idle for `idle` percent. Returns the last tick's result. */
static bool pass(u32 ticks, u32 idle)
{
	bool more = false;

	while (ticks--) {
		core_now_ns += TICK_MS * NS_PER_MS;
		idle_now += TICK_MS * NS_PER_MS / 100 * idle;
		more = prefetch.tick();
	}
	return more;
}

KTEST(prefetch, reads_the_newest_first_after_five_seconds)
{
	start();
	evict(1, 40);
	EXPECT(pass(5 * SECOND, 100));
	EXPECT_EQ(n_asked, 0);
	EXPECT(pass(1, 100));
	EXPECT_EQ(n_asked, batch);
	EXPECT(!pass(1, 100));
	EXPECT_EQ(n_asked, 40);
	for (u32 i = 0; i < n_asked; i++)
		EXPECT_EQ(asked[i], 40 - i);
	stop();
}

KTEST(prefetch, busy_machine_reads_nothing)
{
	start();
	evict(1, 40);
	EXPECT(pass(60 * SECOND, 80));
	EXPECT_EQ(n_asked, 0);
	stop();
}

KTEST(prefetch, stops_at_a_fault_and_waits_anew)
{
	start();
	evict(1, 60);
	pass(5 * SECOND + 1, 100);
	EXPECT_EQ(n_asked, batch);
	prefetch.fault(NULL);
	EXPECT(pass(5 * SECOND, 100));
	EXPECT_EQ(n_asked, batch);
	pass(1, 100);
	EXPECT_EQ(n_asked, 60);
	stop();
}

KTEST(prefetch, without_room_the_machine_may_sleep)
{
	start();
	evict(1, 40);
	room = 0;
	EXPECT(pass(1, 100)); /* a page was evicted just now */
	EXPECT(!pass(1, 100));
	core_now_ns += 3600000 * NS_PER_MS; /* the machine sleeps, then wakes for a moment */
	idle_now += 3600000 * NS_PER_MS;
	EXPECT(pass(1, 100));
	room = MUCH;
	EXPECT(pass(1, 100));
	EXPECT(n_asked > 0);
	stop();
}

KTEST(prefetch, no_more_than_there_is_room_for)
{
	start();
	evict(1, 40);
	room = BEGIN_AT + 2 * CLUSTER;
	pass(5 * SECOND + 1, 100);
	EXPECT_EQ(n_asked, 2);
	room = BEGIN_AT + CLUSTER - 1; /* too little to begin, enough to continue */
	pass(1, 100);
	EXPECT_EQ(n_asked, 3);
	room--;
	EXPECT(!pass(1, 100));
	EXPECT_EQ(n_asked, 3);
	stop();
}

KTEST(prefetch, what_is_gone_is_not_read)
{
	start();
	evict(1, 3);
	prefetch.forget((struct page_id){ 1, 3 });
	prefetch.forget((struct page_id){ 1, 99 });
	evict(1, 1); /* again: now this page is the newest */
	pass(6 * SECOND, 100);
	EXPECT_EQ(n_asked, 2);
	EXPECT_EQ(asked[0], 1);
	EXPECT_EQ(asked[1], 2);
	EXPECT(!pass(1, 100));
	stop();
}

KTEST(prefetch, the_oldest_are_forgotten)
{
	start();
	evict(1, 100);
	pass(6 * SECOND, 100);
	EXPECT_EQ(n_asked, 61);
	EXPECT_EQ(asked[60], 40);
	stop();
}
