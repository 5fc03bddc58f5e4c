/*
 * kswapd: keeps the number of free frames between the low and the high watermark.
 *
 * An allocation that finds its zones below low wakes kswapd, which lowers the priority from 12
 * until enough frames are free. User memory may come from any zone, so kswapd considers the zones
 * together: the sum of their free frames against the sum of their high watermarks; and the same for
 * the zones that the kernel can address, without HIGHMEM. (Linux balances each zone by itself. With
 * one queue for all zones a policy would then have to skip the pages of the other zones: measured
 * here, 400 pages examined for each page taken.)
 *
 * After a successful pass kswapd returns to the calmest priority, since the rest of the list may differ.
 * If even priority 0 frees nothing, kswapd goes back to sleep: the tasks that need memory then reclaim
 * for themselves, or invoke the OOM killer. kswapd also finishes the pages whose writes have ended.
 */
#include "mm/guard_core.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "sched/task.h"
#include "sched/wait.h"

#define MAX_WRITING (4 * SWAP_CLUSTER_MAX)

static WAIT_QUEUE(kswapd_wait);
static bool below_low, write_done; /* irq: why kswapd was woken */
static u32 room; /* extra frames that shall be free this time */

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

/* Is less free in the zones of the mask than their watermarks plus `want`, while a page can be reclaimed? */
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

/* The zones to reclaim from; 0: none. Frames whose writes are under way count as free. */
static u32 unbalanced_zones(void)
{
	u32 writing = reclaim_nr_writing();

	if (zones_low(ZONES_ALL, writing, room))
		return ZONES_ALL;
	return zones_low(ZONES_LOWMEM, writing, 0) ? ZONES_LOWMEM : 0;
}

/* A page whose write failed does not count as progress. Otherwise a disk on which every write fails
 * at once would keep kswapd busy forever. */
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
		else if (--priority == 0) /* priority 0 would take spared pages */
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
