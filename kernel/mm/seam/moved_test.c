/* A page moves to another process, or to none: what the policy is told, and what happens to its data. */
#include "host/fake_core.h"

#include <string.h>

enum { NR_FRAMES = 8, MARK = 0xab };

/* What the policy was told last, and how often it was told. */
static struct {
	u32 nr_moved, nr_removed, nr_inserted;
	struct mm_struct *from, *to, *had; /* had: the page's owner at remove */
	enum vm_in how;
	bool fresh; /* the policy's data in the page were zero at insert */
} told;

static int nr_held;
static bool loses; /* the moved hook loses the page */
static u64 takes_ns; /* run time of moved */

static void tell_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	const u8 *data = policy_page(page);

	(void)from;
	told.nr_inserted++;
	told.to = mm;
	told.how = how;
	told.fresh = !data[0];
	memset(policy_page(page), MARK, sizeof(page->policy));
	nr_held++;
}

static void tell_remove(struct page *page, enum vm_out why)
{
	told.nr_removed += why == VM_OUT_MOVED;
	told.had = page_mm(page);
	nr_held--;
}

static void tell_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	EXPECT(from != to && page_mm(page) == to);
	EXPECT(page_test(page, PG_owned));
	told.nr_moved++;
	told.from = from;
	told.to = to;
	core_now_ns += takes_ns;
	for (u32 i = 0; takes_ns && i < HOOK_LIMIT_TICKS; i++)
		hook_watch();
	nr_held -= loses;
}

static void tell_mm_init(struct mm_struct *mm)
{
	(void)mm;
}

/* Returns the page with the lowest number. */
static struct page *tell_select(struct vm_scan *scan)
{
	for (u32 pfn = 0; pfn < NR_FRAMES; pfn++)
		if (vm_eligible(scan, &mem_map[pfn])) {
			nr_held--;
			return &mem_map[pfn];
		}
	return NULL;
}

static void tell_putback(struct page *page, enum vm_put why)
{
	(void)page, (void)why;
	nr_held++;
}

static int tell_check(void)
{
	return nr_held;
}

#define A_POLICY(policy, ...)                                                                      \
	static const struct vm_policy policy = { .name = #policy,                                  \
						 .summary = "notes what it is told",               \
						 .insert = tell_insert,                            \
						 .remove = tell_remove,                            \
						 .select = tell_select,                            \
						 .putback = tell_putback,                          \
						 .check = tell_check,                              \
						 __VA_ARGS__ }
A_POLICY(hears, .moved = tell_moved, .mm_init = tell_mm_init);
A_POLICY(deaf, .mm_init = tell_mm_init); /* has data for each process, but no moved hook */
A_POLICY(plain, );

static struct mm_struct *a, *b;

/* Starts with every second page owned by process a, and with the policy's mark on all pages. */
static void start(const struct vm_policy *policy)
{
	nr_held = 0;
	loses = false;
	takes_ns = 0;
	core_start(policy, NR_FRAMES);
	a = core_mm_new();
	b = core_mm_new();
	for (u32 pfn = 0; pfn < NR_FRAMES; pfn += 2)
		core_insert(&mem_map[pfn], a, VM_IN_FAULT, (struct page_id){ 0 });
	memset(&told, 0, sizeof(told));
}

static bool is_marked(struct page *page)
{
	const u8 *data = policy_page(page);

	for (u32 i = 0; i < sizeof(page->policy); i++)
		if (data[i] != MARK)
			return false;
	return true;
}

KTEST(moved, hook_hears_of_both_owners_and_finds_its_data)
{
	start(&hears);
	policy_call_moved(&mem_map[0], b);
	EXPECT_EQ(told.nr_moved, 1);
	EXPECT(told.from == a && told.to == b && is_marked(&mem_map[0]));
	policy_call_moved(&mem_map[0], NULL);
	EXPECT_EQ(told.nr_moved, 2);
	EXPECT(told.from == b && !told.to && is_marked(&mem_map[0]));
	policy_call_moved(&mem_map[0], a);
	EXPECT(!told.from && told.to == a);
	EXPECT_EQ(told.nr_removed + told.nr_inserted, 0);
	EXPECT_EQ(core_owned(ZONES_ALL), NR_FRAMES / 2);
	core_stop();
}

KTEST(moved, same_owner_twice_is_no_move)
{
	start(&hears);
	policy_call_moved(&mem_map[0], a);
	EXPECT_EQ(told.nr_moved, 0);
	policy_call_moved(&mem_map[0], b);
	policy_call_moved(&mem_map[0], b);
	EXPECT_EQ(told.nr_moved, 1);
	core_stop();
	start(&deaf);
	policy_call_moved(&mem_map[0], a);
	EXPECT_EQ(told.nr_removed + told.nr_inserted, 0);
	core_stop();
}

KTEST(moved, without_hook_and_data_of_processes_nothing_is_told_or_lost)
{
	start(&plain);
	policy_call_moved(&mem_map[0], b);
	EXPECT(page_mm(&mem_map[0]) == b && is_marked(&mem_map[0]));
	EXPECT_EQ(told.nr_removed + told.nr_inserted, 0);
	core_expect_count();
	core_stop();
}

KTEST(moved, without_hook_but_with_data_of_processes_it_is_removed_and_inserted)
{
	start(&deaf);
	policy_call_moved(&mem_map[0], b);
	EXPECT(told.nr_removed == 1 && told.had == a);
	EXPECT(told.nr_inserted == 1 && told.how == VM_IN_ADOPT && told.to == b && told.fresh);
	EXPECT(page_mm(&mem_map[0]) == b && page_test(&mem_map[0], PG_owned));
	core_expect_count();
	core_stop();
}

/* Pages that are isolated, locked in memory, or have never been given to the policy. */
KTEST(moved, page_that_is_not_the_policys_is_not_its_business)
{
	const struct vm_policy *const policies[] = { &hears, &deaf, &plain };

	for (u32 i = 0; i < ARRAY_SIZE(policies); i++) {
		struct vm_scan scan;

		start(policies[i]);
		scan = policy_scan(ZONES_ALL, 0);
		EXPECT_EQ(core_select(&scan), &mem_map[0]);
		core_remove(&mem_map[2], VM_OUT_PINNED);
		page_set(&mem_map[2], PG_mlocked);
		for (u32 pfn = 0; pfn < 4; pfn++)
			policy_call_moved(&mem_map[pfn], pfn == 3 ? NULL : b);
		EXPECT_EQ(told.nr_moved + told.nr_removed + told.nr_inserted, 0);
		EXPECT(page_mm(&mem_map[0]) == b && page_mm(&mem_map[2]) == b);
		core_putback(&mem_map[0], VM_PUT_BUSY);
		core_expect_count();
		core_stop();
	}
}

/* A process that has ended owns no page: each page has another owner, or none. */
KTEST(moved, process_that_ended_is_named_no_more)
{
	start(&hears);
	core_insert(&mem_map[1], b, VM_IN_FAULT, (struct page_id){ 0 });
	policy_call_moved(&mem_map[1], NULL);
	core_mm_end(b, NULL);
	EXPECT(!page_mm(&mem_map[1]) && page_test(&mem_map[1], PG_owned));
	policy_call_moved(&mem_map[1], a);
	EXPECT(!told.from && told.to == a);
	core_mm_end(a, NULL);
	core_expect_count();
	core_stop();
}

KTEST(moved, next_policy_gets_the_page_with_its_new_owner)
{
	struct vm_scan scan;

	start(&hears);
	scan = policy_scan(ZONES_ALL, 0);
	EXPECT_EQ(core_select(&scan), &mem_map[0]);
	policy_call_moved(&mem_map[0], b);
	policy_call_moved(&mem_map[2], b);
	core_switch(&deaf);
	EXPECT(page_mm(&mem_map[2]) == b);
	policy_call_moved(&mem_map[2], a);
	EXPECT(told.had == b && told.to == a);
	core_putback(&mem_map[0], VM_PUT_BUSY);
	EXPECT(told.to == b && told.how == VM_IN_ADOPT);
	core_expect_count();
	core_stop();
}

KTEST(moved, lost_page_is_noticed)
{
	start(&hears);
	loses = true;
	policy_call_moved(&mem_map[0], b);
	core_expects = "count";
	policy_call_check();
	EXPECT(!core_expects);
	nr_held++;
	core_stop();
}

KTEST(moved, hook_may_take_200_ms)
{
	start(&hears);
	takes_ns = HOOK_LIMIT_NS;
	policy_call_moved(&mem_map[0], b);
	takes_ns++;
	core_expects = "time";
	policy_call_moved(&mem_map[0], a);
	EXPECT(!core_expects);
	core_stop();
}
