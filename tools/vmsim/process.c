/* A process: its references, the faults that they cause, and its time. See vmsim.h. */
#include "vmsim.h"

#define MAX_WAIT 1000000 /* ticks that the only process may wait for may_run */

static u64 next_tick_ns;

/* Does the policy use ticks? If not, they are skipped. */
static bool wants_ticks(const struct vm_policy *policy)
{
	return policy->tick || policy->surplus || policy->may_run;
}

void process_start(u32 nr_frames)
{
	vm_policy = seam_policy();
	memory_start(nr_frames);
	next_tick_ns = wants_ticks(vm_policy) ? policy_tick_ms() * 1000000ull : UINT64_MAX;
	seam_start();
}

/* Time. */

static void tick(void)
{
	counts.ticks++;
	seam_tick();
	counts.trimmed += reclaim_surplus();
	next_tick_ns += policy_tick_ms() * 1000000ull;
}

bool process_may_run(struct mm_struct *mm)
{
	bool held = mm->held;

	mm->held = !policy_call_may_run(mm);
	mm->stopped |= mm->held;
	counts.stops += !held && mm->held;
	return !mm->held;
}

static bool alone(void)
{
	return sim_oldest == &sim_mm && !sim_mm.next;
}

/* Without another process, only time can change the policy's decision. */
static void admit(void)
{
	for (u32 waits = 0; !process_may_run(sim_current) && alone(); waits++) {
		if (waits == MAX_WAIT)
			rule_fatal(&policy_timer, "may_run", "may_run",
				   "the only process may never run");
		sim_now_ns = next_tick_ns;
		tick();
	}
}

static void admit_all(void)
{
	for_each_mm(mm)
		process_may_run(mm);
}

void process_wait(u32 ns)
{
	u64 until = sim_now_ns + ns;

	while (next_tick_ns <= until) {
		sim_now_ns = MAX(sim_now_ns, next_tick_ns);
		tick();
		if (alone())
			admit();
		else
			admit_all();
	}
	sim_now_ns = MAX(sim_now_ns, until);
}

/* References. */

static struct page *take_frame(void)
{
	while (!zones[ZONE_NORMAL].nr_free)
		reclaim_one();
	return memory_take();
}

static void bring_in(struct entry *entry, u32 vpage, u32 kind)
{
	struct page *page = take_frame();

	page->flags = (u32)ZONE_NORMAL << PG_zone_shift;
	if (!(kind & REF_FILE))
		page_set(page, PG_anon);
	if (!(kind & REF_LOAD) || !(kind & REF_FILE || entry->slot))
		page_set(page, PG_dirty);
	page->owner = kind & REF_CALL ? NULL : sim_current;
	page->index = vpage;
	entry->page = page;
	sim_resident++;
	sim_current->resident += !!page->owner;
	sim_current->demand += !entry->seen && !sim_current->nr_used;
	entry->seen = true;
	entry->mapped = !(kind & REF_CALL);
	policy_call_insert(page, page->owner, kind & REF_CALL ? VM_IN_READ : VM_IN_FAULT,
			   page_id_of(page));
}

static const char *fault(struct entry *entry, u32 vpage, u32 kind)
{
	const char *result = "minor";

	if (entry->page) {
		entry->faults = false;
		entry->mapped = true;
		page_clear(entry->page, PG_young);
		if (!(kind & REF_LOAD))
			page_set(entry->page, PG_dirty);
		counts.minor++;
		policy_call_touch(entry->page, sim_current, VM_TOUCH_MINOR);
	} else {
		result = "fault";
		counts.faults++;
		bring_in(entry, vpage, kind);
	}
	admit();
	return result;
}

/* A read or write that finds the page in memory, mapped or not. */
static const char *call_finds(struct entry *entry, u32 kind)
{
	struct page *page = entry->page;

	if (!(kind & REF_LOAD))
		page_set(page, PG_dirty);
	policy_call_touch(page, sim_current, VM_TOUCH_IO);
	return "hit";
}

static const char *refer_to(struct entry *entry, u32 vpage, u32 kind)
{
	struct page *page = entry->page;

	entry->text |= !!(kind & REF_EXEC);
	if (page && kind & REF_CALL)
		return call_finds(entry, kind);
	if (!page || entry->faults || !(entry->mapped || kind & REF_CALL))
		return fault(entry, vpage, kind);
	page_set(page, PG_young);
	if (!(kind & REF_LOAD))
		page_set(page, PG_dirty);
	return "hit";
}

static inline const char *refer(u32 vpage, u32 kind)
{
	struct entry *entry = entry_at(vpage, kind & REF_FILE);
	struct page *page = entry->page;

	counts.references++;
	if (unlikely(kind || !page || entry->faults))
		return refer_to(entry, vpage, kind);
	page->flags |= 1u << PG_young | 1u << PG_dirty;
	return "hit";
}

/* The first reference is at the beginning of the time span, the others at its end. */
void process_run(u32 vpage, u32 count, u32 ns, u32 kind)
{
	const char *result = refer(vpage, kind);

	if (unlikely(sim_now_ns + ns >= next_tick_ns))
		process_wait(ns);
	else
		sim_now_ns += ns;
	if (count > 1 && kind & REF_CALL) {
		while (--count)
			refer(vpage, kind);
	} else if (count > 1) {
		refer(vpage, kind);
		counts.references += count - 2;
	}
	if (unlikely(report_explains))
		report_reference(vpage, count, kind, result);
}

void process_end(void)
{
	memory_forget();
	seam_end();
	memory_free();
}
