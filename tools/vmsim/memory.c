/*
 * The memory of one process: its page table, its frames, and what is counted. See vmsim.h.
 *
 * The page table has two levels, like the processor's, but for 2^32 pages. Several processes share it, and
 * each uses other pages.
 */
#include "vmsim.h"

#include "lib/string.h"

#define NR_LEAVES (1u << (32 - LEAF_SHIFT))

struct page *mem_map;
u32 max_pfn;
struct zone zones[MAX_ZONES];
struct counts counts;
u64 sim_now_ns, sim_since_ns;
u32 sim_resident;
struct mm_struct sim_mm;
struct mm_struct *sim_oldest = &sim_mm, *sim_current = &sim_mm;

struct entry **memory_leaves[2];

static struct page **free_frames; /* the last one is used first */

static void *allocate(size_t n, size_t size)
{
	void *memory = calloc(n, size);

	if (!memory)
		rule_fatal(&policy_timer, "memory", "",
			   "the host has no memory for the simulation");
	return memory;
}

void memory_start(u32 nr_frames)
{
	mem_map = allocate(nr_frames, sizeof(*mem_map));
	for (int i = 0; i < 2; i++)
		memory_leaves[i] = allocate(NR_LEAVES, sizeof(*memory_leaves[i]));
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
}

struct entry *memory_add_leaf(struct entry **leaf)
{
	*leaf = allocate(LEAF_SIZE, sizeof(**leaf));
	return *leaf;
}

bool page_is_file(const struct page *page)
{
	return !page_test(page, PG_anon);
}

struct entry *entry_of(const struct page *page)
{
	return entry_at(page->index, page_is_file(page));
}

void memory_fault_first(struct page *page)
{
	entry_of(page)->faults = true;
}

void memory_unmap(struct page *page)
{
	entry_of(page)->mapped = false;
	memory_fault_first(page);
}

void memory_release(struct page *page)
{
	struct entry *entry = entry_of(page);

	entry->page = NULL;
	entry->mapped = entry->faults = false;
	if (page->owner)
		page->owner->resident--;
	page->owner = NULL;
	sim_resident--;
	free_frames[zones[ZONE_NORMAL].nr_free++] = page;
}

struct page *memory_take(void)
{
	return free_frames[--zones[ZONE_NORMAL].nr_free];
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

void memory_forget_leaf(u32 leaf)
{
	for (u32 i = 0; memory_leaves[0][leaf] && i < LEAF_SIZE; i++) {
		struct page *page = memory_leaves[0][leaf][i].page;

		if (page) {
			policy_call_remove(page, VM_OUT_FREED);
			memory_release(page);
		}
	}
	forget_all(memory_leaves[0][leaf], false, leaf << LEAF_SHIFT);
	memory_leaves[0][leaf] = NULL;
}

void memory_forget(void)
{
	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		if (page_test(&mem_map[pfn], PG_owned))
			policy_call_remove(&mem_map[pfn], VM_OUT_FREED);
	for (int of_file = 0; of_file < 2; of_file++) {
		for (u32 i = 0; i < NR_LEAVES; i++)
			forget_all(memory_leaves[of_file][i], of_file, i << LEAF_SHIFT);
		free(memory_leaves[of_file]);
	}
}

void memory_free(void)
{
	free(mem_map);
	free(free_frames);
}
