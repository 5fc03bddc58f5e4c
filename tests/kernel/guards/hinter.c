/* A guard that uses everything that a tick may: hints for every page, prefetches, questions about the run queue. */
#include "mm/guard.h"

static u32 nr_ticks, nr_hints, nr_prefetched, nr_evicted, nr_forgotten, nr_queued, nr_low, nr_min;
static struct page_id last;

static bool hinter_tick(void)
{
	nr_ticks++;
	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm)) {
		for (struct page *page = vm_next_page(mm, NULL); page;
		     page = vm_next_page(mm, page)) {
			nr_hints++;
			vm_hint(page, nr_hints % 2 ? VM_TOUCH_DONTNEED : VM_TOUCH_WILLNEED);
		}
		if (nr_ticks % 4 == 0)
			vm_prepage(mm);
	}
	nr_queued += vm_queued(false) != NULL;
	if ((vm_queued(false) != NULL) != (vm_queued(true) != NULL))
		nr_queued = 1u << 31;
	while (last.store && vm_prefetch(last))
		nr_prefetched++;
	return false;
}

static void hinter_pressure(bool min)
{
	nr_low += !min;
	nr_min += min;
}

static void hinter_evicted(struct page *page, struct mm_struct *owner, struct page_id to)
{
	(void)page, (void)owner;
	nr_evicted++;
	last = to;
}

static void hinter_forget(struct page_id id)
{
	nr_forgotten++;
	if (id.store == last.store && id.index == last.index)
		last.store = 0;
}

static void hinter_show(struct seq_file *m)
{
	show_u64(m, "ticks", nr_ticks);
	show_u64(m, "hints", nr_hints);
	show_u64(m, "prefetched", nr_prefetched);
	show_u64(m, "evicted", nr_evicted);
	show_u64(m, "forgotten", nr_forgotten);
	show_u64(m, "queued", nr_queued);
	show_u64(m, "low", nr_low);
	show_u64(m, "min", nr_min);
}

static const struct vm_guard hinter = {
	.name = "hinter",
	.summary = "hints at random",
	.tick_ms = 10,
	.pressure = hinter_pressure,
	.tick = hinter_tick,
	.evicted = hinter_evicted,
	.forget = hinter_forget,
	.show = hinter_show,
};
VM_GUARD(hinter);
