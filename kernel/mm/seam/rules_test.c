/* Tests the rules of the policy interface: what is a violation, and what is almost one but is
 * permitted. The policy does what each test tells it to do. */
#include "host/fake_core.h"

#include <string.h>

enum { NR_FRAMES = 8 };

static struct page *given; /* the page that the next select returns */
static u32 looks; /* number of pages that select examines first */
static u64 takes_ns; /* run time of insert */
static u32 takes_ticks; /* number of ticks during insert */
static int nr_held, nr_ticks; /* nr_ticks: how often tick asks to be called again */
static enum vm_act act;

static void odd_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	(void)page, (void)mm, (void)how, (void)from;
	core_now_ns += takes_ns;
	for (u32 i = 0; i < takes_ticks; i++)
		hook_watch();
	nr_held++;
}

static void odd_remove(struct page *page, enum vm_out why)
{
	(void)page, (void)why;
	nr_held--;
}

static struct page *odd_select(struct vm_scan *scan)
{
	for (u32 i = 0; i < looks; i++)
		vm_scan_more(scan);
	scan->act = act;
	nr_held -= given != NULL;
	return given;
}

static void odd_putback(struct page *page, enum vm_put why)
{
	(void)page, (void)why;
	nr_held++;
}

static bool odd_tick(void)
{
	return nr_ticks-- > 0;
}

static int odd_check(void)
{
	return nr_held;
}

static const struct vm_policy odd = {
	.name = "odd",
	.summary = "does as it is told",
	.insert = odd_insert,
	.remove = odd_remove,
	.select = odd_select,
	.putback = odd_putback,
	.tick = odd_tick,
	.check = odd_check,
};

static void start(void)
{
	nr_held = nr_ticks = 0;
	looks = takes_ns = takes_ticks = 0;
	act = VM_EVICT;
	given = NULL;
	core_start(&odd, NR_FRAMES);
	core_mm_new();
	for (u32 pfn = 0; pfn < NR_FRAMES / 2; pfn++)
		core_insert(&mem_map[pfn], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
}

/* Does select break this rule if it returns the page? */
static bool breaks(const char *rule, struct page *page)
{
	struct vm_scan scan = {
		.zones = ZONES_ALL, .priority = 12, .allowance = 32, .selects = 32
	};

	core_expects = rule;
	given = page;
	EXPECT(!policy_call_select(&scan));
	nr_held += page != NULL;
	return !core_expects;
}

KTEST(rules, select_gives_an_eligible_page_of_its_own)
{
	start();
	EXPECT(breaks("select", (struct page *)((char *)&mem_map[1] + 4)));
	EXPECT(breaks("select", &mem_map[NR_FRAMES]));
	EXPECT(breaks("select", &mem_map[NR_FRAMES - 1]));
	page_set(&mem_map[0], PG_locked);
	EXPECT(breaks("select", &mem_map[0]));
	page_clear(&mem_map[0], PG_locked);
	core_stop();
}

KTEST(rules, page_given_twice_is_noticed)
{
	struct vm_scan scan = {
		.zones = ZONES_ALL, .priority = 12, .allowance = 32, .selects = 32
	};

	start();
	given = &mem_map[0];
	EXPECT_EQ(policy_call_select(&scan), &mem_map[0]);
	EXPECT_EQ(vm_nr_isolated, 1);
	EXPECT(breaks("select", &mem_map[0]));
	policy_call_putback(&mem_map[0], VM_PUT_BUSY);
	EXPECT_EQ(vm_nr_isolated, 0);
	core_stop();
}

KTEST(rules, scan_ends_and_each_select_has_its_budget)
{
	struct vm_scan scan = {
		.zones = ZONES_ALL, .priority = 12, .allowance = 32, .selects = 32
	};
	u32 nr = 0;

	start();
	act = VM_LAUNDER;
	given = &mem_map[0];
	for (; nr < 1000 && policy_call_select(&scan); nr++)
		policy_call_putback(given, VM_PUT_DONE);
	EXPECT_EQ(nr, 32);
	looks = 4;
	scan.selects = 2;
	for (nr = 0; nr < 1000 && policy_call_select(&scan); nr++)
		policy_call_putback(given, VM_PUT_DONE);
	EXPECT_EQ(nr, 2);
	EXPECT_EQ(scan.budget, 32 - 4);
	core_stop();
}

KTEST(rules, nothing_at_priority_0_is_blamed_if_a_page_is_eligible)
{
	start();
	core_expects = "none";
	EXPECT(policy_blame(ZONES_ALL, 0));
	EXPECT(!core_expects);
	core_expects = "none";
	EXPECT(policy_blame(ZONES_ALL, 7));
	EXPECT(!core_expects);
	for (u32 pfn = 0; pfn < NR_FRAMES; pfn++)
		page_set(&mem_map[pfn], PG_locked);
	EXPECT(!policy_blame(ZONES_ALL, 0));
	core_stop();
}

/* select returns a page only when it is called again: the policy owns that page as before. */
KTEST(rules, page_that_was_only_asked_for_is_put_back)
{
	start();
	given = &mem_map[1];
	EXPECT(policy_blame(ZONES_ALL, 0));
	EXPECT(page_test(given, PG_owned) && !page_test(given, PG_isolated));
	EXPECT_EQ(vm_nr_isolated, 0);
	core_stop();
}

static void insert_for(u64 ns, u32 ticks)
{
	enum { pfn = NR_FRAMES - 1 };

	takes_ns = ns;
	takes_ticks = ticks;
	core_insert(&mem_map[pfn], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
	core_remove(&mem_map[pfn], VM_OUT_FREED);
}

KTEST(rules, hook_may_take_200_ms)
{
	start();
	insert_for(HOOK_LIMIT_NS, HOOK_LIMIT_TICKS);
	core_expects = "time";
	insert_for(HOOK_LIMIT_NS + 1, HOOK_LIMIT_TICKS);
	EXPECT(!core_expects);
	core_stop();
}

/* With the host's clock, a hook is not blamed for time that the host spent on other programs. */
KTEST(rules, time_without_ticks_is_not_the_hooks)
{
	start();
	insert_for(1000ull * HOOK_LIMIT_NS, 1);
	insert_for(HOOK_LIMIT_NS + 1, HOOK_LIMIT_TICKS - 1);
	insert_for(HOOK_LIMIT_NS + 1, HOOK_LIMIT_TICKS - 1);
	core_stop();
}

/* Ticks before the hook began do not count. */
KTEST(rules, ticks_between_hooks_do_not_count)
{
	start();
	insert_for(1, 1);
	for (u32 i = 0; i < 2 * HOOK_LIMIT_TICKS; i++)
		hook_watch();
	insert_for(2 * HOOK_HUNG_NS, 1);
	core_stop();
}

KTEST(rules, tick_ends)
{
	start();
	nr_ticks = 1000;
	while (policy_call_tick())
		;
	nr_ticks = INT32_MAX;
	core_expects = "time";
	while (policy_call_tick())
		;
	EXPECT(!core_expects);
	core_stop();
}

KTEST(rules, count_is_compared)
{
	start();
	nr_held++;
	core_expects = "count";
	policy_call_check();
	EXPECT(!core_expects);
	nr_held = -1;
	core_expects = "lists";
	policy_call_check();
	EXPECT(!core_expects);
	nr_held = NR_FRAMES / 2;
	core_stop();
}

/* From here on the policy has another select, which breaks rules. */
static struct vm_policy *odd_with(struct page *(*select)(struct vm_scan *scan))
{
	static struct vm_policy policy;

	policy = odd;
	policy.select = select;
	vm_policy = &policy;
	return &policy;
}

static struct page *nested_select(struct vm_scan *scan)
{
	policy_call_check();
	(void)scan;
	return NULL;
}

KTEST(rules, hooks_do_not_nest_and_must_be_there)
{
	struct vm_scan scan = policy_scan(ZONES_ALL, 0);
	struct vm_policy *nested;

	start();
	nested = odd_with(nested_select);
	EXPECT_PANIC(policy_call_select(&scan));
	policy_timer.running = NULL;
	nested->putback = NULL;
	EXPECT_PANIC(policy_start(nested));
	vm_policy = &odd;
	core_stop();
}

static struct page *endless_select(struct vm_scan *scan)
{
	volatile bool goes_on = true;

	(void)scan;
	while (goes_on)
		;
	return NULL;
}

KTEST(rules, hook_that_never_returns_is_named)
{
	struct vm_scan scan = policy_scan(ZONES_ALL, 0);

	start();
	odd_with(endless_select);
	host_watch(10);
	EXPECT_PANIC(policy_call_select(&scan));
	host_watch(1000);
	EXPECT(strstr(host_panic_message, "policy odd, rule time: hook select does not return"));
	EXPECT(strstr(host_panic_message, "each turn must ask vm_scan_more"));
	policy_timer.running = NULL;
	vm_policy = &odd;
	core_stop();
}
