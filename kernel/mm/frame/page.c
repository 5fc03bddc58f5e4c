/*
 * References to a frame, and waiting for a read or a write of it to end.
 *
 * The waiters for all pages share a few queues, chosen by frame number. Waking the wrong waiter is
 * harmless, because every waiter tests its condition again.
 */
#include "lib/assert.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/zone.h"
#include "sched/current.h"
#include "sched/wait.h"

#define NR_QUEUES 16

static struct wait_queue queues[NR_QUEUES];

void page_init_queues(void)
{
	for (int i = 0; i < NR_QUEUES; i++)
		wait_queue_init(&queues[i]);
}

static struct wait_queue *page_queue(struct page *p)
{
	return &queues[page_pfn(p) % NR_QUEUES];
}

void page_put(struct page *p)
{
	u32 keep = 3u << PG_zone_shift;

	ASSERT(p->count > 0);
	if (--p->count)
		return;
	ASSERT(!p->mapcount);
	ASSERT(!page_test(p, PG_swapcache) && !page_test(p, PG_isolated));
	if (page_test(p, PG_owned))
		policy_call_remove(p, VM_OUT_FREED);
	if (page_test(p, PG_anon) && !page_test(p, PG_mlocked))
		frames_uncharge();
	p->flags &= keep;
	p->count = 1;
	free_pages(p, 0);
}

void page_wait_unlocked(struct page *p)
{
	bool was = current->in_pagewait;

	if (!page_test(p, PG_locked))
		return;
	current->in_pagewait = current->in_iowait = true;
	wait_event(page_queue(p), !page_test(p, PG_locked));
	current->in_pagewait = current->in_iowait = was;
}

void page_lock(struct page *p)
{
	page_wait_unlocked(p);
	page_set(p, PG_locked);
}

void page_wait_writeback(struct page *p)
{
	bool was = current->in_pagewait;

	current->in_pagewait = current->in_iowait = true;
	wait_event(page_queue(p), !page_test(p, PG_writeback));
	current->in_pagewait = current->in_iowait = was;
}

void page_wake(struct page *p)
{
	wake_up(page_queue(p));
}

void page_unlock(struct page *p)
{
	page_clear(p, PG_locked);
	wake_up(page_queue(p));
}

void page_end_writeback(struct page *p)
{
	page_clear(p, PG_writeback);
}
