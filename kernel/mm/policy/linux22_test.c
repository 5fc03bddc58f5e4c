/* Linux 2.2: which process's page is evicted, checked against loops over all pages and processes. */
#include "linux22.c"

#include "../../lib/rbtree.c"
#include "../../lib/rbtree_check.c"
#include "../../lib/seq_file.c"
#include "host/fake_core.h"

enum { NR_FRAMES = 60, MAX_MMS = 5, NR_OPS = 20000 };

/* A process as swap_out sees it. The oldest process comes first. */
static struct naive {
	struct mm_struct *mm;
	u32 swap_cnt, swap_address;
} process[MAX_MMS];
static u32 nr;
static bool was_used[NR_FRAMES];
static u32 seed;

static u32 below(u32 n)
{
	return ktap_random(&seed) % n;
}

static u32 nr_pages(const struct naive *p)
{
	u32 n = 0;

	for (u32 pfn = 0; pfn < NR_FRAMES; pfn++)
		n += page_test(&mem_map[pfn], PG_owned) && mem_map[pfn].owner == p->mm;
	return n;
}

/* Returns the process's page with the lowest address from swap_address on, or NULL. */
static struct page *next_of(const struct naive *p)
{
	struct page *best = NULL;

	for (struct page *at = mem_map; at < mem_map + NR_FRAMES; at++)
		if (page_test(at, PG_owned) && at->owner == p->mm && at->index >= p->swap_address &&
		    (!best || at->index < best->index))
			best = at;
	return best;
}

static struct page *walk(struct naive *p)
{
	struct page *page;

	while ((page = next_of(p))) {
		p->swap_address = page->index + 1;
		if (!was_used[page - mem_map])
			return page;
		was_used[page - mem_map] = false;
	}
	p->swap_cnt = p->swap_address = 0;
	return NULL;
}

/* Returns the page that swap_out would choose. There must be one. */
static struct page *naive_victim(void)
{
	for (;;) {
		struct naive *best = NULL;
		struct page *page;

		for (struct naive *p = process; p < process + nr; p++)
			if (p->swap_cnt > (best ? best->swap_cnt : 0))
				best = p;
		if (best && (page = walk(best)))
			return page;
		for (struct naive *p = process; !best && p < process + nr; p++)
			p->swap_cnt = nr_pages(p);
	}
}

static void begin_process(void)
{
	if (nr < MAX_MMS)
		process[nr++] = (struct naive){ .mm = core_mm_new() };
}

static void end_process(void)
{
	u32 i = below(nr);

	if (nr == 1)
		return;
	core_mm_end(process[i].mm, NULL);
	nr--;
	for (; i < nr; i++)
		process[i] = process[i + 1];
}

static void use(struct page *page)
{
	if (page_test(page, PG_owned)) {
		page_set(page, PG_young);
		was_used[page - mem_map] = true;
	} else {
		page_clear(page, PG_young);
		was_used[page - mem_map] = false;
		core_insert(page, process[below(nr)].mm, VM_IN_FAULT, (struct page_id){ 0 });
	}
}

static void evict(void)
{
	struct vm_scan scan = policy_scan(ZONES_ALL, 1);
	struct page *wanted, *page;

	if (!core_owned(ZONES_ALL))
		return;
	wanted = naive_victim();
	scan.allowance = 10 * NR_FRAMES;
	page = core_select(&scan);
	EXPECT_EQ(page - mem_map, wanted - mem_map);
	core_evicted(page, (struct page_id){ 1, 1 });
}

KTEST(linux22, largest_process_gives_until_its_walk_has_ended)
{
	seed = ktap_seed_noted();
	core_start(&linux22, NR_FRAMES);
	for (u32 pfn = 0; pfn < NR_FRAMES; pfn++)
		mem_map[pfn].index = pfn * 7 % NR_FRAMES;
	nr = 0;
	begin_process();
	for (u32 i = 0; i < NR_OPS; i++) {
		u32 what = below(40);

		if (what < 20)
			use(&mem_map[below(NR_FRAMES)]);
		else if (what < 37)
			evict();
		else if (what < 39)
			begin_process();
		else
			end_process();
	}
	core_expect_count();
	core_stop();
}

KTEST(linux22, page_that_moves_is_walked_by_its_new_owner_and_its_use_stays)
{
	struct mm_struct *first, *second;
	struct page *page;

	core_start(&linux22, 8);
	first = core_mm_new();
	second = core_mm_new();
	page = &mem_map[1];
	page->index = 7;
	core_insert(page, first, VM_IN_FAULT, (struct page_id){ 0 });
	core_touch(page, VM_TOUCH_MINOR);
	policy_call_moved(page, second);
	EXPECT(linux22_mm(first)->nr == 0 && linux22_mm(second)->nr == 1);
	EXPECT(linux22_data(page)->used);
	policy_call_moved(page, NULL);
	EXPECT(linux22_mm(second)->nr == 0 && nr_cached == 1 && linux22_data(page)->used);
	core_expect_count();
	core_stop();
}
