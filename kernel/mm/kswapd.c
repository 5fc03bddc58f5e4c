/*
 * kswapd: keeps free frames between the low and the high watermark.
 *
 * Woken when a zone falls below low, it goes from priority 12 downwards through the zones that are
 * below high, until all are above, counting the frames whose writes are under way as free. A pass
 * that got something starts again calmly, since the list it met may not be like the next. When
 * even priority 0 gets nothing it goes back to sleep: the tasks that need memory then reclaim, or
 * kill, for themselves. It also finishes the pages whose writes have ended.
 */
#include "mm/reclaim.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "proc/task.h"
#include "sched/wait.h"

#define MAX_WRITING (4 * SWAP_CLUSTER_MAX)

static WAIT_QUEUE(kswapd_wait);
static bool below_low, write_done; /* irq: why it was woken */

void kswapd_wake(void)
{
	if (below_low)
		return;
	below_low = true;
	vm_count(kswapd_wake);
	wake_up(&kswapd_wait);
}

void kswapd_wake_done(void)
{
	write_done = true;
	wake_up(&kswapd_wait);
}

/* The zones that would be below high even when all writes under way have ended. */
static u32 unbalanced_zones(u32 writing)
{
	u32 mask = 0;

	for (int i = 0; i < MAX_ZONES; i++) {
		struct zone *z = &zones[i];

		if (z->managed && z->nr_free + writing < z->watermark[WMARK_HIGH] && z->nr_owned)
			mask |= 1u << i;
	}
	return mask;
}

static void balance(void)
{
	int priority = DEF_PRIORITY;
	u32 mask;

	while (priority >= 0 && (mask = unbalanced_zones(reclaim_nr_writing()))) {
		if (!reclaim_pass(mask, priority, SWAP_CLUSTER_MAX))
			priority--;
		else
			priority = DEF_PRIORITY;
		if (reclaim_nr_writing() >= MAX_WRITING || (priority < 6 && reclaim_nr_writing()))
			reclaim_wait_write();
		reclaim_finish_writes();
		cond_resched();
	}
}

static void kswapd(void *arg)
{
	(void)arg;
	current->flags |= TF_RECLAIM;
	for (;;) {
		wait_event(&kswapd_wait, below_low || write_done);
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
