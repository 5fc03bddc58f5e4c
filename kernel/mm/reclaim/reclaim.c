/*
 * Processing the pages that the policy selects, until their frames are free.
 *
 *	select -> isolated -> unmapped everywhere (entries name the slot) -> clean?  free
 *	                                                      dirty -> being written -> free
 *	                      a fault meanwhile maps it again ("rescued") -> putback(USED)
 *
 * A page gets its slot before it is unmapped, so that its identity is known; if no slot is free, it
 * is put back. Writes are sent in batches and end in an interrupt, which puts the page on the
 * `done` list. The next task that reclaims finishes the pages on this list, in task context. Detach
 * stops after unmapping; launder writes without unmapping.
 *
 * No lock: no other task runs unless this one sleeps, and then our reference keeps the isolated page.
 */
#include "mm/reclaim.h"

#include "drivers/block.h"
#include "mm/cache.h"
#include "mm/guard_core.h"
#include "mm/oom.h"
#include "mm/policy_core.h"
#include "mm/rmap.h"
#include "mm/shrinkers.h"
#include "mm/slab.h"
#include "mm/swap.h"
#include "mm/frames.h"
#include "mm/vmstat.h"
#include "sched/current.h"
#include "sched/timer.h"

#define PAUSE_NS 1000000u
#define RESCUE_PATIENCE_NS 1000000000ull

static LIST_HEAD(done); /* irq: of struct page.lru; pages whose writes have ended */
static u32 nr_writing, nr_swapping,
	nr_failed; /* pages sent: not finished; those to swap; not written */
static u64 nr_reclaimed, evicted_ns; /* evicted_ns: first eviction since it was read; 0: none */
static int worst_priority = DEF_PRIORITY;
static u32 nr_given, nr_to_evict; /* pages that select gave in the last pass, and to evict */
static WAIT_QUEUE(reclaim_wait); /* waiting for a write to end */

int reclaim_worst_priority(void)
{
	int p = worst_priority;

	worst_priority = DEF_PRIORITY;
	return p;
}

u32 reclaim_nr_failed(void)
{
	return nr_failed;
}

u32 reclaim_nr_writing(void)
{
	return nr_writing;
}

u32 reclaim_nr_swapping(void)
{
	return nr_swapping;
}

u64 reclaim_nr_freed(void)
{
	return nr_reclaimed;
}

void reclaim_write_done(struct page *page)
{
	list_add_tail(&page->lru, &done);
	wake_up(&reclaim_wait);
	kswapd_wake_done();
}

static void give_back(struct page *page, enum vm_put why)
{
	policy_call_putback(page, why);
	if (page_test(page, PG_mlocked))
		policy_call_remove(page, VM_OUT_PINNED);
	page_put(page);
}

/* Is the store of the page's data the swap area, rather than its file? */
static inline bool lives_in_swap(const struct page *page)
{
	return !page_test(page, PG_filecache) || page_test(page, PG_shmem);
}

/* Has every user exited, or has the page been truncated away? */
static bool is_unneeded(const struct page *page)
{
	if (page_test(page, PG_filecache))
		return !page->inode;
	return !page->mapcount && !swap_count(page->slot);
}

/* Has a task used the page since it was unmapped? One reference is reclaim's. */
static bool in_use(const struct page *page)
{
	u32 used = 1u << PG_locked | 1u << PG_dirty | 1u << PG_writeback | 1u << PG_young;

	return page->mapcount || page->count > page_keepers(page) + 1 || page->flags & used;
}

u64 reclaim_first_eviction_ns(void)
{
	u64 first = evicted_ns;

	evicted_ns = 0;
	return first;
}

static void count_freed(struct page *page)
{
	page_zone(page)->nr_reclaimed++;
	nr_reclaimed++;
	if (current->flags & TF_KTHREAD)
		stat_count(pgsteal_kswapd);
	else
		stat_count(pgsteal_direct);
}

static void rescue(struct page *page)
{
	stat_count(pgrescued);
	if (page_test(page, PG_filecache) && !page->mapcount)
		page->owner = NULL;
	give_back(page, VM_PUT_USED);
}

/* Frees the frame of an unmapped, clean page, unless the page has been used meanwhile. */
static void finish_evict(struct page *page)
{
	if (is_unneeded(page)) {
		policy_drop_isolated(page);
	} else if (in_use(page)) {
		rescue(page);
		return;
	} else {
		policy_call_evicted(page, page_id_of(page));
		stat_count(pgevict);
		evicted_ns = evicted_ns ?: clock_ns();
		if (page_test(page, PG_filecache))
			cache_evict(page);
		else
			swap_note_eviction(page->slot);
	}
	count_freed(page);
	if (page_test(page, PG_swapcache))
		swap_cache_del(page);
	page_put(page);
}

static void finish_write(struct page *page)
{
	bool laundering = page_test_and_clear(page, PG_laundering);
	bool failed = page_test_and_clear(page, PG_error), swapped = lives_in_swap(page);

	nr_writing--;
	nr_swapping -= swapped;
	nr_failed += failed;
	if (failed && swapped)
		page_set(page, PG_dirty);
	if (is_unneeded(page) || !(failed || laundering))
		finish_evict(page);
	else
		give_back(page, failed ? VM_PUT_IOERR : VM_PUT_DONE);
}

static struct page *next_done(void)
{
	unsigned long flags = irq_save();
	struct page *page = NULL;

	if (!list_empty(&done)) {
		page = list_first_entry(&done, struct page, lru);
		list_del(&page->lru);
	}
	irq_restore(flags);
	return page;
}

void reclaim_finish_writes(void)
{
	struct page *page;

	while ((page = next_done()))
		finish_write(page);
}

static void unmap_entry(struct rmap_entry *e, void *arg)
{
	struct page *page = arg;

	if (pte_dirty(*e->pte))
		page_set(page, PG_dirty);
	if (pte_present(*e->pte))
		bits_set(&page->flags, pte_accessed(*e->pte) << PG_sampled);
	*e->pte = pte_swap(page->slot);
	tlb_flush_page(e->mm->pgd, e->addr);
	swap_dup(page->slot);
	e->mm->count.swapents++;
	page->mapcount--;
	page_put(page);
	mm_count_anon(e->mm, -1);
}

static void clean_entry(struct rmap_entry *e, void *arg)
{
	if (!pte_dirty(*e->pte))
		return;
	page_set(arg, PG_dirty);
	*e->pte = pte_mkclean(*e->pte);
	tlb_flush_page(e->mm->pgd, e->addr);
}

/* While an area is being switched off, a page gives up its slot there as soon as no entry names it. */
static bool keeps_slot(struct page *page)
{
	if (!swap_slot_leaves(page->slot) || swap_count(page->slot))
		return true;
	swap_cache_del(page);
	return false;
}

static bool give_slot(struct page *page)
{
	u32 slot;

	if (page_test(page, PG_swapcache) && (likely(!swap_leaving) || keeps_slot(page)))
		return true;
	slot = swap_alloc();
	if (!slot)
		return false;
	swap_cache_add(page, slot);
	page_set(page, PG_dirty);
	return true;
}

/* The page's store writes it, and calls reclaim_write_done at the end. May sleep. */
static void send(struct page *page)
{
	nr_writing++;
	if (!lives_in_swap(page)) {
		cache_write_for_reclaim(page);
	} else {
		nr_swapping++;
		if (page_test(page, PG_filecache))
			cache_protect(page);
		page_clear(page, PG_dirty);
		swap_write(page);
	}
	swap_write_room();
}

static bool must_be_written(const struct page *page)
{
	return page->flags & (1u << PG_dirty | 1u << PG_writeback);
}

static void launder(struct page *page)
{
	if (!page_test(page, PG_filecache))
		rmap_walk(page, clean_entry, page);
	if (!must_be_written(page)) {
		give_back(page, VM_PUT_DONE);
		return;
	}
	stat_count(pglaunder);
	page_set(page, PG_laundering);
	send(page);
}

/* A page of a file loses its owner unless it is freed at once: the owner does not see the page any more,
 * and may end meanwhile. An anonymous page's owner still has the entry. */
static void unmap(struct page *page, enum vm_act act)
{
	if (!page_test(page, PG_filecache)) {
		rmap_walk(page, unmap_entry, page);
		return;
	}
	cache_unmap(page);
	page_clear(page, PG_young);
	if (act == VM_DETACH || must_be_written(page))
		page->owner = NULL;
}

/* Returns true if a frame has become free or will become free when its write ends. */
static bool work_on(struct page *page, enum vm_act act)
{
	if (lives_in_swap(page) && !give_slot(page)) {
		give_back(page, VM_PUT_NOSWAP);
		return false;
	}
	if (act == VM_LAUNDER) {
		launder(page);
		return false;
	}
	unmap(page, act);
	if (act == VM_DETACH) {
		stat_count(pgdetach);
		give_back(page, VM_PUT_DONE);
		return false;
	}
	if (must_be_written(page))
		send(page);
	else
		finish_evict(page);
	return true;
}

/* Returns the policy's next page, isolated and with a reference, or NULL if there is none. */
static struct page *take_page(struct vm_scan *scan)
{
	struct page *page = policy_call_select(scan);

	if (page)
		page_get(page);
	return page;
}

u32 reclaim_pass(u32 zone_mask, int priority, u32 want)
{
	struct vm_scan scan = policy_scan(zone_mask, priority);
	u32 taken = 0, given = 0, to_evict = 0;
	struct page *page;

	worst_priority = MIN(worst_priority, priority);
	swap_write_room();
	while (taken < want && (page = take_page(&scan))) {
		given++;
		to_evict += scan.act == VM_EVICT;
		taken += work_on(page, scan.act);
	}
	nr_reclaimed += shrink_caches(priority);
	swap_write_flush();
	nr_given = given;
	nr_to_evict = to_evict;
	return taken;
}

void reclaim_wait_write(void)
{
	bool was = current->in_pagewait;

	current->in_pagewait = current->in_iowait = true;
	wait_event(&reclaim_wait, !list_empty(&done) || !nr_writing);
	current->in_pagewait = current->in_iowait = was;
	reclaim_finish_writes();
}

void reclaim_pause(void)
{
	bool was = current->in_pagewait;

	current->in_pagewait = true;
	ksleep_ns(PAUSE_NS);
	current->in_pagewait = was;
}

/* Rescued pages can be freed after their users have run, unless the users wait for memory, too. So the
 * situation is hopeless if for a while pages are rescued and none is freed. */
static bool rescued_in_vain(void)
{
	static u64 since_ns, last_ns, freed;
	u64 now = clock_ns();

	if (nr_reclaimed != freed || now - last_ns > RESCUE_PATIENCE_NS)
		since_ns = now;
	freed = nr_reclaimed;
	last_ns = now;
	return now - since_ns > RESCUE_PATIENCE_NS;
}

/* Makes passes from calm to desperate until a frame is freed. Returns false if none can be freed. The
 * policy is blamed only for the last pass: if it gave pages but none to evict, or if it gave no page at
 * all although no page was being written. */
static bool reclaim_some(u32 zone_mask, u32 want)
{
	u64 before = nr_reclaimed, rescued = vm_events[VM_pgrescued];
	const struct vm_policy *asked = NULL;
	bool innocent = true;
	u32 given = 0;

	for (int priority = DEF_PRIORITY; priority >= 0; priority--) {
		reclaim_finish_writes();
		asked = vm_policy;
		reclaim_pass(zone_mask, priority, want);
		given = nr_given;
		innocent = given ? nr_to_evict : nr_writing;
		while (nr_writing && nr_reclaimed == before)
			reclaim_wait_write();
		if (nr_reclaimed != before)
			return true;
	}
	if (slab_reap() + kernel_stack_reap() > 0 || vm_policy != asked)
		return true;
	if (vm_events[VM_pgrescued] == rescued)
		return !innocent && policy_blame(zone_mask, given);
	reclaim_pause();
	return !rescued_in_vain();
}

void reclaim_begin(void)
{
	current->flags |= TF_RECLAIM;
	psi_task_changed(current, cycles_now());
}

void reclaim_end(void)
{
	current->flags &= ~TF_RECLAIM;
	psi_task_changed(current, cycles_now());
}

bool reclaim_one_capped(void)
{
	return reclaim_some(ZONES_ALL | VM_ONLY_CAPPED, 1);
}

bool direct_reclaim(u32 zone_mask)
{
	bool some;

	stat_count(allocstall);
	guard_call_pressure(true);
	reclaim_begin();
	some = reclaim_some(zone_mask, SWAP_CLUSTER_MAX);
	reclaim_end();
	return some;
}

void reclaim_trim(struct mm_struct *mm, u32 n)
{
	struct vm_scan scan = policy_trim_scan(mm, n, mm_rss_pages(mm));
	struct page *page;
	u32 id = mm->id;

	/* Sending a page may sleep, and the process may end meanwhile. */
	swap_write_room();
	while (mm_after(id - 1) == mm && (page = take_page(&scan))) {
		stat_count(pgtrim);
		work_on(page, scan.act);
	}
	swap_write_flush();
}
