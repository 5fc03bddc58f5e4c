/*
 * Reclaim, as mm/reclaim/reclaim.c has it: passes from priority 12 down to 0 until a frame is free.
 *
 * A dirty page stays isolated until the end of the pass that selected it. Then its write is complete,
 * and the pages of the pass are finished in the order of their slots, as in one sorted batch of
 * requests to a disk. Clean pages are finished at once.
 */
#include "vmsim.h"

static LIST_HEAD(writing); /* of struct page.lru, by slot */
static u32 next_slot = 1;

static void finish_evict(struct page *page)
{
	policy_call_evicted(page, page_id_of(page));
	if (page->owner)
		page->owner->lost++;
	memory_release(page);
}

static void write(struct page *page, bool laundering)
{
	struct list_head *at = writing.prev;

	if (laundering)
		page_set(page, PG_laundering);
	while (at != &writing && list_entry(at, struct page, lru)->slot > page->slot)
		at = at->prev;
	list_add(&page->lru, at);
}

static void finish_writes(void)
{
	while (!list_empty(&writing)) {
		struct page *page = list_first_entry(&writing, struct page, lru);

		list_del(&page->lru);
		page_clear(page, PG_dirty);
		if (page_test_and_clear(page, PG_laundering))
			policy_call_putback(page, VM_PUT_DONE);
		else
			finish_evict(page);
	}
}

static void give_slot(struct page *page)
{
	struct entry *entry = entry_of(page);

	if (page_is_file(page))
		return;
	if (!entry->slot) {
		entry->slot = next_slot++;
		page_set(page, PG_dirty);
	}
	page->slot = entry->slot;
}

/* Returns true if a frame is free, or will be at the end of the pass. */
static bool work_on(struct page *page, enum vm_act act)
{
	bool dirty;

	give_slot(page);
	dirty = page_test(page, PG_dirty);
	if (act == VM_DETACH) {
		page_clear(page, PG_young);
		memory_unmap(page);
	}
	if (act == VM_DETACH || (act == VM_LAUNDER && !dirty))
		policy_call_putback(page, VM_PUT_DONE);
	else if (dirty)
		write(page, act == VM_LAUNDER);
	else
		finish_evict(page);
	return act == VM_EVICT;
}

/* Frees a frame, unless the policy gives none. Returns the number of pages it gave. */
static u32 reclaim_pass(int priority)
{
	struct vm_scan scan = policy_scan(ZONES_ALL, priority);
	struct page *page;
	bool freed = false;
	u32 given = 0;

	while (!freed && (page = seam_select(&scan))) {
		given++;
		freed = work_on(page, scan.act);
	}
	counts.evictions += freed;
	finish_writes();
	return given;
}

void reclaim_one(void)
{
	u32 given = 0;

	for (int priority = DEF_PRIORITY; priority >= 0; priority--) {
		given = reclaim_pass(priority);
		if (zones[ZONE_NORMAL].nr_free)
			return;
	}
	policy_blame(ZONES_ALL, given);
}

static u32 trim(struct mm_struct *mm)
{
	u32 n = policy_call_surplus(mm), freed = 0;
	struct vm_scan scan = policy_trim_scan(mm, n, sim_resident);
	struct page *page;

	while ((page = seam_select(&scan)))
		freed += work_on(page, scan.act);
	finish_writes();
	return freed;
}

u32 reclaim_surplus(void)
{
	u32 freed = 0;

	for_each_mm(mm)
		freed += trim(mm);
	return freed;
}
