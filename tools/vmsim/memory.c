/*
 * The memory of one process: its page table, its frames, and how frames are freed. See vmsim.h.
 *
 * The page table has two levels, like the processor's, but for 2^32 pages.
 */
#include "vmsim.h"

#include "lib/string.h"

#define LEAF_SHIFT 14
#define LEAF_SIZE (1u << LEAF_SHIFT)
#define NR_LEAVES (1u << (32 - LEAF_SHIFT))
#define MAX_WAIT 1000000 /* ticks that the only process may wait for may_run */

struct page *mem_map;
u32 max_pfn;
struct zone zones[MAX_ZONES];
struct counts counts;
u64 sim_now_ns;
u32 sim_resident;

static struct entry **leaves[2]; /* of the process, and of the file */
static struct page **free_frames; /* the last one is used first */
static u64 next_tick_ns;

static void *allocate(size_t n, size_t size)
{
	void *memory = calloc(n, size);

	if (!memory)
		rule_fatal(&policy_timer, "memory", "",
			   "the host has no memory for the simulation");
	return memory;
}

/* Does the policy use ticks? If not, they are skipped. */
static bool wants_ticks(const struct vm_policy *policy)
{
	return policy->tick || policy->surplus || policy->may_run;
}

void memory_start(u32 nr_frames)
{
	vm_policy = seam_policy();
	mem_map = allocate(nr_frames, sizeof(*mem_map));
	for (int i = 0; i < 2; i++)
		leaves[i] = allocate(NR_LEAVES, sizeof(*leaves[i]));
	free_frames = allocate(nr_frames, sizeof(*free_frames));
	max_pfn = nr_frames;
	zones[ZONE_NORMAL] = (struct zone){ .name = "Normal",
					    .end_pfn = nr_frames,
					    .present = nr_frames,
					    .managed = nr_frames,
					    .nr_free = nr_frames };
	for (u32 i = 0; i < nr_frames; i++) {
		free_frames[i] = &mem_map[nr_frames - 1 - i];
		mem_map[i].flags = (u32)ZONE_NORMAL << PG_zone_shift;
	}
	next_tick_ns = wants_ticks(vm_policy) ? policy_tick_ms() * 1000000ull : UINT64_MAX;
	seam_start();
}

static inline struct entry *entry_at(u32 vpage, bool of_file)
{
	struct entry **leaf = &leaves[of_file][vpage >> LEAF_SHIFT];

	if (unlikely(!*leaf))
		*leaf = allocate(LEAF_SIZE, sizeof(**leaf));
	return &(*leaf)[vpage % LEAF_SIZE];
}

struct entry *entry_of(const struct page *page)
{
	return entry_at(page->index, page_is_file(page));
}

void memory_fault_first(struct page *page)
{
	entry_of(page)->faults = true;
}

void memory_release(struct page *page)
{
	struct entry *entry = entry_of(page);

	entry->page = NULL;
	entry->mapped = entry->faults = false;
	page->owner = NULL;
	sim_resident--;
	free_frames[zones[ZONE_NORMAL].nr_free++] = page;
}

static struct page *take_frame(void)
{
	while (!zones[ZONE_NORMAL].nr_free)
		reclaim_one();
	return free_frames[--zones[ZONE_NORMAL].nr_free];
}

/* Time. */

static void tick(void)
{
	counts.ticks++;
	seam_tick();
	counts.trimmed += reclaim_surplus();
	next_tick_ns += policy_tick_ms() * 1000000ull;
}

/* There is no other process, so only time can change the policy's decision. */
static void admit(void)
{
	for (u32 waits = 0; !policy_call_may_run(&sim_mm); waits++) {
		if (waits == MAX_WAIT)
			rule_fatal(&policy_timer, "may_run", "may_run",
				   "the only process may never run");
		sim_now_ns = next_tick_ns;
		tick();
	}
}

static void pass_time(u32 ns)
{
	u64 until = sim_now_ns + ns;

	while (next_tick_ns <= until) {
		sim_now_ns = next_tick_ns;
		tick();
		admit();
	}
	sim_now_ns = MAX(sim_now_ns, until);
}

/* References. */

static void bring_in(struct entry *entry, u32 vpage, u32 kind)
{
	struct page *page = take_frame();

	page->flags = (u32)ZONE_NORMAL << PG_zone_shift;
	if (!(kind & REF_FILE))
		page_set(page, PG_anon);
	if (!(kind & REF_LOAD) || !(kind & REF_FILE || entry->slot))
		page_set(page, PG_dirty);
	page->owner = kind & REF_CALL ? NULL : &sim_mm;
	page->index = vpage;
	entry->page = page;
	sim_resident++;
	counts.pages += !entry->seen;
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
		policy_call_touch(entry->page, &sim_mm, VM_TOUCH_MINOR);
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
	policy_call_touch(page, &sim_mm, VM_TOUCH_IO);
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
void memory_run(u32 vpage, u32 count, u32 ns, u32 kind)
{
	const char *result = refer(vpage, kind);

	if (unlikely(sim_now_ns + ns >= next_tick_ns))
		pass_time(ns);
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

static void forget_all(struct entry *leaf, bool of_file, u32 first)
{
	for (u32 i = 0; leaf && i < LEAF_SIZE; i++)
		if (of_file && leaf[i].seen)
			policy_call_forget((struct page_id){ FILE_STORE, first + i });
		else if (leaf[i].slot)
			policy_call_forget((struct page_id){ SWAP_STORE, leaf[i].slot });
	free(leaf);
}

void memory_end(void)
{
	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		if (page_test(&mem_map[pfn], PG_owned))
			policy_call_remove(&mem_map[pfn], VM_OUT_FREED);
	for (int of_file = 0; of_file < 2; of_file++) {
		for (u32 i = 0; i < NR_LEAVES; i++)
			forget_all(leaves[of_file][i], of_file, i << LEAF_SHIFT);
		free(leaves[of_file]);
	}
	seam_end();
	free(mem_map);
	free(free_frames);
}
