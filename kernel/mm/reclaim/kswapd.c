/*
 * kswapd: keeps free frames between the low and the high watermark.
 *
 * Woken when an allocation finds its zones below low, it goes from priority 12 downwards until
 * enough is free. User memory may come from any zone, so what counts are the zones together:
 * their free frames against the sum of their high watermarks; and the same for those that the
 * kernel can use, without HIGHMEM. (Linux balances each zone by itself. With one queue for all
 * zones a policy would then have to walk past the pages of the others: measured here, 400
 * pages looked at for each one taken.)
 *
 * A pass that got something starts again calmly, since the list it met may not be like the next.
 * When even priority 0 gets nothing it goes back to sleep: the tasks that need memory then
 * reclaim, or kill, for themselves. It also finishes the pages whose writes have ended.
 */
#include "mm/guard_core.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "proc/task.h"
#include "sched/wait.h"

#define MAX_WRITING (4 * SWAP_CLUSTER_MAX)

static WAIT_QUEUE(kswapd_wait);
static bool below_low, write_done; /* irq: why it was woken */
static u32 room; /* so many frames more shall be free this time */

void kswapd_wake(void)
{
	if (below_low)
		return;
	below_low = true;
	stat_count(kswapd_wake);
	wake_up(&kswapd_wait);
}

void kswapd_wake_done(void)
{
	write_done = true;
	wake_up(&kswapd_wait);
}

void kswapd_make_room(u32 nr)
{
	room = MAX(room, nr);
	kswapd_wake();
}

/* Frames free in the zones of the mask, and what they should keep. */
static bool zones_low(u32 mask, u32 writing, u32 want)
{
	u32 have = writing, owned = 0, highest = mask == ZONES_ALL ? ZONE_HIGHMEM : ZONE_NORMAL;

	for (int i = 0; i < MAX_ZONES; i++) {
		if (!(mask >> i & 1))
			continue;
		have += zones[i].nr_free;
		want += zones[i].keep[zone_keep(WMARK_HIGH, highest)];
		owned += zones[i].nr_owned;
	}
	return have < want && owned;
}

/* The zones to reclaim from, counting the frames whose writes are under way as free; 0: none. */
static u32 unbalanced_zones(void)
{
	u32 writing = reclaim_nr_writing();

	if (zones_low(ZONES_ALL, writing, room))
		return ZONES_ALL;
	return zones_low(ZONES_LOWMEM, writing, 0) ? ZONES_LOWMEM : 0;
}

/* A page that was sent and could not be written is no progress, or a disk that fails at once would
 * keep it busy for ever. */
static void balance(void)
{
	u32 failed = reclaim_nr_failed(), before, mask;
	int priority = DEF_PRIORITY;

	guard_call_pressure(false);
	while (priority >= 0 && (mask = unbalanced_zones())) {
		before = failed;
		failed = reclaim_nr_failed();
		if (reclaim_pass(mask, priority, SWAP_CLUSTER_MAX) && failed == before)
			priority = DEF_PRIORITY;
		else if (--priority == 0) /* that would take from those who are spared */
			room = 0;
		if (reclaim_nr_writing() >= MAX_WRITING || (priority < 6 && reclaim_nr_writing()))
			reclaim_wait_write();
		reclaim_finish_writes();
		cond_resched();
	}
	room = 0;
}

static void kswapd(void *arg)
{
	(void)arg;
	current->flags |= TF_RECLAIM;
	for (;;) {
		wait_event_interruptible(&kswapd_wait, below_low || write_done);
		write_done = false;
		reclaim_finish_writes();
		if (!below_low)
			continue;
		below_low = false;
		balance();
	}
}

void kswapd_init(void)
{
	kthread_create("kswapd", 0, kswapd, NULL);
}
