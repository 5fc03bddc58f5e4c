/*
 * Waiting for a read or a write of a frame to end.
 *
 * The waiters for all pages share a few queues, chosen by frame number. Waking the wrong waiter is
 * harmless, because every waiter tests its condition again.
 */
#include "mm/zone.h"
#include "sched/current.h"
#include "sched/wait.h"

#define NR_QUEUES 16

static struct wait_queue queues[NR_QUEUES];
struct page *zero_page;

static struct wait_queue *page_queue(struct page *p)
{
	return &queues[page_pfn(p) % NR_QUEUES];
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

void page_init(void)
{
	for (int i = 0; i < NR_QUEUES; i++)
		wait_queue_init(&queues[i]);
	zero_page = alloc_page(GFP_KERNEL | GFP_ZERO);
}
