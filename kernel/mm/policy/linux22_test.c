/*
 * Linux 2.2: which page is unmapped, written or evicted, checked against loops over all frames and
 * processes.
 */
#include "linux22.c"

#include "../../lib/rbtree.c"
#include "../../lib/rbtree_check.c"
#include "../../lib/seq_file.c"
#include "host/fake_core.h"

enum { NR_FRAMES = 60, MAX_MMS = 5, NR_OPS = 40000 };

/* A process as swap_out sees it. The oldest process comes first. */
static struct naive {
	struct mm_struct *mm;
	u32 swap_cnt, swap_address;
} process[MAX_MMS];
static u32 nr;
static bool was_used[NR_FRAMES], in_cache[NR_FRAMES];
static u32 naive_hand, left_of_cluster, nr_rescues;
static bool wrote_of_cluster, differs;
static struct page *is_dirty; /* the page that was just unmapped */
static u32 seed;

static u32 below(u32 n)
{
	return ktap_random(&seed) % n;
}

static bool is_mapped(const struct page *page, const struct naive *p)
{
	return page_test(page, PG_owned) && page->owner == p->mm && !in_cache[page - mem_map];
}

static u32 nr_pages(const struct naive *p)
{
	u32 n = 0;

	for (u32 pfn = 0; pfn < NR_FRAMES; pfn++)
		n += is_mapped(&mem_map[pfn], p);
	return n;
}

/* Returns the process's page with the lowest address from swap_address on, or NULL. */
static struct page *next_of(const struct naive *p)
{
	struct page *best = NULL;

	for (struct page *at = mem_map; at < mem_map + NR_FRAMES; at++)
		if (is_mapped(at, p) && at->index >= p->swap_address &&
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

/* Returns the page that swap_out would choose, or NULL if no page is mapped. */
static struct page *naive_swap_out(void)
{
	for (bool begun = false;;) {
		struct naive *best = NULL;
		struct page *page;

		for (struct naive *p = process; p < process + nr; p++)
			if (p->swap_cnt > (best ? best->swap_cnt : 0))
				best = p;
		if (best && (page = walk(best)))
			return page;
		if (!best && begun)
			return NULL;
		begun = !best;
		for (struct naive *p = process; !best && p < process + nr; p++)
			p->swap_cnt = nr_pages(p);
	}
}

/* Returns the page that shrink_mmap would free, or NULL. It looks at one frame after another. */
static struct page *naive_shrink_mmap(u32 looks)
{
	while (looks--) {
		u32 pfn = naive_hand;

		naive_hand = (naive_hand + 1) % NR_FRAMES;
		if (!page_test(&mem_map[pfn], PG_owned) || !in_cache[pfn])
			continue;
		if (!was_used[pfn])
			return &mem_map[pfn];
		was_used[pfn] = false;
	}
	return NULL;
}

static struct page *naive_choice(u32 priority, enum vm_act *act)
{
	struct page *page;

	if (is_dirty && priority) {
		*act = VM_LAUNDER;
		wrote_of_cluster = true;
		return is_dirty;
	}
	*act = VM_EVICT;
	if (!priority || (!left_of_cluster && !wrote_of_cluster)) {
		page = naive_shrink_mmap(2 * NR_FRAMES >> priority / 4);
		left_of_cluster = page ? 0 : core_frames / 64 + 1;
		if (page || !priority)
			return page ?: naive_swap_out();
	}
	*act = VM_DETACH;
	page = left_of_cluster ? naive_swap_out() : NULL;
	left_of_cluster = page ? left_of_cluster - 1 : 0;
	wrote_of_cluster &= page != NULL;
	return page;
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
	if (is_dirty && is_dirty->owner == process[i].mm)
		is_dirty = NULL;
	core_mm_end(process[i].mm, NULL);
	nr--;
	for (; i < nr; i++)
		process[i] = process[i + 1];
}

/* A fault maps a page that was unmapped; read or write use a page that no process has. */
static void use(struct page *page)
{
	bool is_new = !page_test(page, PG_owned);
	struct mm_struct *mm = below(8) ? process[below(nr)].mm : NULL;
	u32 pfn = page - mem_map;

	if (!is_new && in_cache[pfn]) {
		nr_rescues += page->owner != NULL;
		is_dirty = is_dirty == page && page->owner ? NULL : is_dirty;
		core_touch(page, page->owner ? VM_TOUCH_MINOR : VM_TOUCH_IO);
		in_cache[pfn] = !page->owner;
	} else if (!is_new) {
		page_set(page, PG_young);
	} else {
		page_clear(page, PG_young);
		page_clear(page, PG_dirty);
		if (below(4))
			page_set(page, PG_dirty);
		in_cache[pfn] = !mm;
		core_insert(page, mm, mm ? VM_IN_FAULT : VM_IN_READ, (struct page_id){ 0 });
	}
	was_used[pfn] = !is_new;
}

/* The core answers. Sometimes there is no slot, or a fault maps the page while it is being written. */
static void answer(struct page *page, enum vm_act act)
{
	u32 pfn = page - mem_map;
	bool fails = !below(8), rescued = fails && page->owner && in_cache[pfn];

	is_dirty = is_dirty == page ? NULL : is_dirty;
	if (act != VM_DETACH && rescued) {
		page_clear(page, PG_placed);
		nr_rescues++;
	}
	if (act == VM_EVICT && !rescued) {
		core_evicted(page, (struct page_id){ 1, 1 });
		return;
	}
	in_cache[pfn] = act == VM_DETACH ? !fails : !page->owner || !rescued;
	was_used[pfn] = act == VM_EVICT;
	if (act == VM_LAUNDER)
		page_clear(page, PG_dirty);
	if (act == VM_DETACH && !fails && page_dirty(page))
		is_dirty = page;
	if (act == VM_EVICT)
		core_putback(page, VM_PUT_USED);
	else
		core_putback(page, act == VM_DETACH && fails ? VM_PUT_NOSWAP : VM_PUT_DONE);
}

static void reclaim(void)
{
	struct vm_scan scan = policy_scan(ZONES_ALL, below(DEF_PRIORITY + 1));
	struct page *wanted, *page;
	enum vm_act act;

	if (!core_owned(ZONES_ALL))
		return;
	wanted = naive_choice(scan.priority, &act);
	scan.allowance = 10 * NR_FRAMES;
	page = core_select(&scan);
	differs = page != wanted || (page && scan.act != act);
	EXPECT(!differs);
	if (page)
		answer(page, act);
}

KTEST(linux22, chooses_as_loops_over_all_frames_do)
{
	seed = ktap_seed_noted();
	core_start(&linux22, NR_FRAMES);
	core_frames = 8 * 64;
	for (u32 pfn = 0; pfn < NR_FRAMES; pfn++)
		mem_map[pfn].index = pfn * 7 % NR_FRAMES;
	nr = naive_hand = left_of_cluster = nr_rescues = 0;
	is_dirty = NULL;
	wrote_of_cluster = differs = false;
	begin_process();
	for (u32 i = 0; i < NR_OPS && !differs; i++) {
		u32 what = below(60);

		if (what < 20)
			use(&mem_map[below(NR_FRAMES)]);
		else if (what < 57)
			reclaim();
		else if (what < 59)
			begin_process();
		else
			end_process();
	}
	EXPECT(nr_rescues > NR_OPS / 100);
	EXPECT_EQ(nr_rescued, nr_rescues);
	core_expect_count();
	core_stop();
}

static struct mm_struct *first, *second;
static struct page *page;

/* Two processes; the first has a page, at address 7, which is dirty. */
static void begin(void)
{
	core_start(&linux22, 8);
	first = core_mm_new();
	second = core_mm_new();
	page = &mem_map[1];
	page->index = 7;
	page_set(page, PG_dirty);
	core_insert(page, first, VM_IN_FAULT, (struct page_id){ 0 });
}

static void end(void)
{
	core_expect_count();
	core_stop();
}

/* Expects the next select to give the page, for `act`. */
static void expect_given(int priority, enum vm_act act)
{
	struct vm_scan scan = policy_scan(ZONES_ALL, priority);

	EXPECT(core_select(&scan) == page && scan.act == act);
}

static bool is_in_tree_of(struct mm_struct *mm)
{
	return linux22_mm(first)->nr == (mm == first) && linux22_mm(second)->nr == (mm == second) &&
	       nr_cached == !mm;
}

KTEST(linux22, page_that_moves_is_walked_by_its_new_owner_and_its_use_stays)
{
	begin();
	core_touch(page, VM_TOUCH_MINOR);
	policy_call_moved(page, second);
	EXPECT(is_in_tree_of(second) && linux22_data(page)->used);
	policy_call_moved(page, NULL);
	EXPECT(is_in_tree_of(NULL) && linux22_data(page)->used);
	end();
}

/* Its process ends, but a child has the page, too: the child's fault makes the child its owner. */
KTEST(linux22, unmapped_page_outlives_its_process)
{
	begin();
	expect_given(DEF_PRIORITY, VM_DETACH);
	core_putback(page, VM_PUT_DONE);
	policy_call_moved(page, NULL);
	EXPECT(is_in_tree_of(NULL) && nr_rescued == 0);
	policy_call_moved(page, second);
	EXPECT(is_in_tree_of(second) && nr_rescued == 1);
	core_touch(page, VM_TOUCH_MINOR);
	EXPECT(is_in_tree_of(second) && nr_rescued == 1);
	end();
}

KTEST(linux22, unmapped_page_is_written_at_once_unless_it_is_clean_rescued_or_freed)
{
	begin();
	expect_given(DEF_PRIORITY, VM_DETACH);
	core_putback(page, VM_PUT_DONE);
	expect_given(DEF_PRIORITY, VM_LAUNDER);
	core_putback(page, VM_PUT_IOERR);
	EXPECT(!to_write && is_in_tree_of(NULL));
	expect_given(0, VM_EVICT);
	page_clear(page, PG_placed); /* a fault, while the page is being written */
	core_putback(page, VM_PUT_USED);
	EXPECT(is_in_tree_of(first) && nr_rescued == 1);
	end();
	begin();
	page_clear(page, PG_dirty);
	expect_given(DEF_PRIORITY, VM_DETACH);
	core_putback(page, VM_PUT_DONE);
	EXPECT(!to_write);
	page_set(page, PG_dirty);
	core_touch(page, VM_TOUCH_MINOR);
	EXPECT(is_in_tree_of(first) && nr_rescued == 1 && test_and_clear_used(page));
	for (u32 i = 0; i < 2; i++) {
		expect_given(DEF_PRIORITY, VM_DETACH);
		core_putback(page, VM_PUT_DONE);
		EXPECT(to_write == page);
		if (i == 0)
			core_touch(page, VM_TOUCH_MINOR);
		else
			core_remove(page, VM_OUT_FREED);
		EXPECT(!to_write && nr_rescued == 2);
		linux22_data(page)->used = false;
	}
	page->owner = NULL;
	end();
}

KTEST(linux22, desperate_scan_evicts_a_cached_page_else_a_mapped_one_though_it_was_used)
{
	begin();
	page_set(page, PG_young);
	expect_given(0, VM_EVICT);
	core_putback(page, VM_PUT_BUSY);
	EXPECT(is_in_tree_of(first));
	expect_given(DEF_PRIORITY, VM_DETACH);
	core_putback(page, VM_PUT_DONE);
	core_insert(&mem_map[0], second, VM_IN_FAULT, (struct page_id){ 0 });
	linux22_data(page)->used = true;
	expect_given(0, VM_EVICT);
	core_evicted(page, (struct page_id){ 1, 1 });
	end();
}

/* The other process's pages are locked, and its walks spend the budget before the page's second turn. */
KTEST(linux22, desperate_scan_without_budget_evicts_the_page_that_it_passed)
{
	struct vm_scan scan = policy_scan(ZONES_ALL, 0);

	begin();
	page_set(page, PG_young);
	for (u32 pfn = 2; pfn < 6; pfn++) {
		page_set(&mem_map[pfn], PG_locked);
		core_insert(&mem_map[pfn], second, VM_IN_FAULT, (struct page_id){ 0 });
	}
	scan.allowance = 9; /* 4 of the second process, 1, 4 */
	EXPECT(core_select(&scan) == page && scan.act == VM_EVICT);
	core_evicted(page, (struct page_id){ 1, 1 });
	end();
}
