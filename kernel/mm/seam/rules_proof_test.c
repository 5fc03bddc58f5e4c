/*
 * The rules of the policy interface, for all short sequences of calls and all answers of a policy.
 *
 * There are four pages (two anonymous ones, a page of a file, and one in another zone), two policies
 * that give every possible answer, and a correct one that takes over when a rule is broken, as in
 * the kernel. From the start, every call that the core can make in its state is made with every
 * answer, and then every possible next one, for sequences of 4 calls (or DEPTH= in the environment).
 *
 * Checked after each call, against a record of each policy's pages and a table of owners:
 *	a page is owned by the policy, by the core, or unowned, as the header says, and counted so
 *	a policy is told about its own pages and no others: it owns the pages that it was given and has
 *	not given away, also after a switch; and it is told when the owner of one of them changes
 *	the page that select returns is accepted if and only if the page may be given; all other answers
 *	break a rule, the policy that gave the answer is blamed, and nothing else breaks a rule
 */
#include "host/fake_core.h"
#include "mm/swap.h"
#include <string.h>

enum {
	NR = 4,
	NO_PAGE = NR,
	BEYOND,
	BETWEEN,
	NR_ANSWERS
}; /* what select returns: a page, or one of these */

enum owner { NOBODY, POLICY, CORE, STALE }; /* STALE: the core's, from a policy that was replaced */

static u32 answer;
static int lie; /* added to the number of pages that check returns */

/* All state that changes: saved before each call, and restored for the next one. */
struct state {
	struct page pages[NR + 1];
	u32 nr_owned[MAX_ZONES], nr_isolated, nr_slots;
	const struct vm_policy *policy;
	enum owner owner[NR];
	bool held[NR]; /* pages that the active policy has been given */
};

static struct state s;
static const char *broke; /* the broken rule; NULL: none */
static u32 nr_sequences, nr_broken, nr_moved;

static u32 number(const struct page *page)
{
	return page - mem_map;
}

static void told_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	(void)mm, (void)how, (void)from;
	EXPECT(!s.held[number(page)]);
	s.held[number(page)] = true;
}

static void told_remove(struct page *page, enum vm_out why)
{
	(void)why;
	EXPECT(s.held[number(page)]);
	s.held[number(page)] = false;
}

static void told_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	EXPECT(s.held[number(page)] && from != to && page_mm(page) == to);
	nr_moved++;
}

static void told_mm(struct mm_struct *mm)
{
	(void)mm;
}

static struct page *give(struct vm_scan *scan)
{
	(void)scan;
	if (answer < NR)
		s.held[answer] = false;
	switch (answer) {
	case NO_PAGE:
		return NULL;
	case BEYOND:
		return &mem_map[max_pfn];
	case BETWEEN:
		return (struct page *)((char *)&mem_map[1] + 4);
	default:
		return &mem_map[answer];
	}
}

static struct page *give_honestly(struct vm_scan *scan)
{
	for (u32 i = 0; i < NR; i++)
		if (s.held[i] && vm_eligible(scan, &mem_map[i])) {
			s.held[i] = false;
			return &mem_map[i];
		}
	return NULL;
}

static void told_putback(struct page *page, enum vm_put why)
{
	(void)why;
	told_insert(page, NULL, VM_IN_ADOPT, (struct page_id){ 0 });
}

static void told_evicted(struct page *page, struct page_id to)
{
	(void)to;
	EXPECT(!s.held[number(page)]);
}

static int count(void)
{
	int n = lie;

	for (u32 i = 0; i < NR; i++)
		n += s.held[i];
	return n;
}

#define A_POLICY(policy, how, ...)                                                                 \
	static const struct vm_policy policy = { .name = #policy,                                  \
						 .summary = "of the proof",                        \
						 .insert = told_insert,                            \
						 .remove = told_remove,                            \
						 .select = how,                                    \
						 .putback = told_putback,                          \
						 .evicted = told_evicted,                          \
						 .check = count,                                   \
						 __VA_ARGS__ }
A_POLICY(one, give, .moved = told_moved);
A_POLICY(other, give, .mm_init = told_mm); /* is told of a moved page by remove and insert */
A_POLICY(honest, give_honestly, );

/* Called when a rule is broken: records that, and switches to the honest policy, as the kernel does. */
static void went_wrong(const struct violation *v)
{
	EXPECT(!broke);
	EXPECT(!strcmp(v->name, vm_policy->name) && vm_policy != &honest);
	broke = v->rule;
	nr_broken++;
	memset(s.held, 0, sizeof(s.held));
	lie = 0;
	for (u32 i = 0; i < NR; i++)
		if (s.owner[i] == CORE)
			s.owner[i] = STALE;
	policy_take_over(&honest, true);
}

static void save(struct state *to)
{
	memcpy(s.pages, mem_map, sizeof(s.pages));
	for (u32 i = 0; i < MAX_ZONES; i++)
		s.nr_owned[i] = zones[i].nr_owned;
	s.nr_isolated = vm_nr_isolated;
	s.nr_slots = swap_nr_free;
	s.policy = vm_policy;
	*to = s;
}

static void bring_back(const struct state *from)
{
	s = *from;
	memcpy(mem_map, s.pages, sizeof(s.pages));
	for (u32 i = 0; i < MAX_ZONES; i++)
		zones[i].nr_owned = s.nr_owned[i];
	vm_nr_isolated = s.nr_isolated;
	swap_nr_free = s.nr_slots;
	vm_policy = s.policy;
	broke = NULL;
	lie = 0;
	answer = NO_PAGE;
}

static const u32 zones_of[NR] = { 1 << ZONE_NORMAL, 1 << ZONE_NORMAL, 1 << ZONE_NORMAL,
				  1 << ZONE_DMA };

/* May the policy give page i? */
static bool may_be_given(u32 i, u32 zone_mask)
{
	return i < NR && s.owner[i] == POLICY && !page_test(&mem_map[i], PG_locked) &&
	       zone_mask & zones_of[i] && (i == 2 || swap_nr_free);
}

static u32 nr_to_give(u32 zone_mask)
{
	u32 n = 0;

	for (u32 i = 0; i < NR; i++)
		n += may_be_given(i, zone_mask);
	return n;
}

static void judge(void)
{
	u32 nr[STALE + 1] = { 0 }, owned = 0;

	for (u32 i = 0; i < NR; i++) {
		enum owner owner = s.owner[i];
		const struct page *page = &mem_map[i];

		EXPECT_EQ(page_test(page, PG_owned), owner == POLICY);
		EXPECT_EQ(page_test(page, PG_isolated), owner == CORE || owner == STALE);
		EXPECT_EQ(page_test(page, PG_stale), owner == STALE);
		EXPECT_EQ(s.held[i], owner == POLICY);
		nr[owner]++;
	}
	for (u32 i = 0; i < MAX_ZONES; i++)
		owned += zones[i].nr_owned;
	EXPECT_EQ(owned, nr[POLICY]);
	EXPECT_EQ(zones[ZONE_DMA].nr_owned, s.owner[NR - 1] == POLICY);
	EXPECT_EQ(vm_nr_isolated, nr[CORE] + nr[STALE]);
}

/* The calls. Each returns false if it cannot be made in the current state. */

static bool insert(u32 i)
{
	if (i >= NR || s.owner[i] != NOBODY)
		return false;
	core_insert(&mem_map[i], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
	s.owner[i] = POLICY;
	return true;
}

static bool remove_from(u32 i)
{
	if (i >= NR || s.owner[i] != POLICY)
		return false;
	core_remove(&mem_map[i], VM_OUT_FREED);
	s.owner[i] = NOBODY;
	return true;
}

static bool is_cores(u32 i)
{
	return i < NR && (s.owner[i] == CORE || s.owner[i] == STALE);
}

static bool put_back(u32 i)
{
	if (!is_cores(i))
		return false;
	core_putback(&mem_map[i], VM_PUT_BUSY);
	s.owner[i] = POLICY;
	return true;
}

static bool evict(u32 i)
{
	if (!is_cores(i))
		return false;
	core_evicted(&mem_map[i], (struct page_id){ 1, 1 });
	s.owner[i] = NOBODY;
	return true;
}

static bool drop(u32 i)
{
	if (!is_cores(i))
		return false;
	core_drop_isolated(&mem_map[i]);
	s.owner[i] = NOBODY;
	return true;
}

/* The page's process ends, or another process maps the page. */
static bool move(u32 i)
{
	struct mm_struct *to;
	u32 before = nr_moved;

	if (i >= NR)
		return false;
	to = mem_map[i].owner ? NULL : core_mm(0);
	policy_call_moved(&mem_map[i], to);
	EXPECT(mem_map[i].owner == to);
	EXPECT_EQ(nr_moved - before, vm_policy == &one && s.owner[i] == POLICY);
	return true;
}

static bool lock(u32 i)
{
	if (i >= NR)
		return false;
	mem_map[i].flags ^= 1u << PG_locked;
	return true;
}

static bool fill_swap(u32 i)
{
	swap_nr_free ^= 1;
	return i == 0;
}

static bool change_policy(u32 i)
{
	if (i || vm_policy == &honest)
		return false;
	for (i = 0; i < NR; i++)
		if (s.owner[i] == CORE)
			s.owner[i] = STALE;
	core_switch(vm_policy == &one ? &other : &one);
	return true;
}

/* One call of select, with answer i. */
static bool select_from(u32 zone_mask, u32 i)
{
	struct vm_scan scan = policy_scan(zone_mask, 12);
	bool is_honest = vm_policy == &honest;
	bool right = may_be_given(i, zone_mask);
	struct page *page;

	if (i >= NR_ANSWERS || (is_honest && i))
		return false;
	answer = i;
	page = policy_call_select(&scan);
	if (is_honest)
		EXPECT_EQ(page != NULL, nr_to_give(zone_mask) > 0);
	else
		EXPECT_EQ(page != NULL, right);
	EXPECT_EQ(broke != NULL, !is_honest && i != NO_PAGE && !right);
	if (page)
		s.owner[number(page)] = CORE;
	return true;
}

static bool select_any(u32 i)
{
	return select_from(ZONES_ALL, i);
}

static bool select_normal(u32 i)
{
	return select_from(1 << ZONE_NORMAL, i);
}

/* A pass at priority 0 ended without a page; when select is called again, it gives answer i. */
static bool blame(u32 i)
{
	u32 n = nr_to_give(ZONES_ALL);
	bool is_honest = vm_policy == &honest;
	bool right = may_be_given(i, ZONES_ALL);

	if (i >= NR_ANSWERS || (is_honest && i))
		return false;
	answer = i;
	EXPECT_EQ(policy_blame(ZONES_ALL, 0), n > 0);
	EXPECT_EQ(broke != NULL, !is_honest && n && !right);
	return true;
}

static bool miscount(u32 i)
{
	if (i || vm_policy == &honest)
		return false;
	lie = 1;
	policy_call_check();
	EXPECT(broke && !strcmp(broke, "count"));
	return true;
}

static bool (*const calls[])(u32 i) = { insert,   remove_from,   put_back, evict,     drop,
					lock,     select_any,    blame,    fill_swap, change_policy,
					miscount, select_normal, move };

/* rules.c counts how often a policy is asked again before a page is evicted. */
static void forget_asked_again(void)
{
	vm_nr_isolated++;
	page_set(&mem_map[NR], PG_isolated);
	page_set(&mem_map[NR], PG_stale);
	policy_call_evicted(&mem_map[NR], (struct page_id){ 1, 1 });
}

static void try_all(u32 depth)
{
	struct state before;

	save(&before);
	for (u32 call = 0; call < ARRAY_SIZE(calls); call++)
		for (u32 i = 0; i < NR_ANSWERS; i++) {
			bring_back(&before);
			forget_asked_again();
			if (!calls[call](i))
				continue;
			nr_sequences++;
			judge();
			if (depth > 1)
				try_all(depth - 1);
		}
}

KTEST(rules_proof, all_short_sequences)
{
	core_start(&one, NR + 1);
	core_mm_new();
	core_on_violation = went_wrong;
	core_set_zone(NR - 1, ZONE_DMA);
	for (u32 i = 0; i < NR; i++)
		if (i != 2)
			page_set(&mem_map[i], PG_anon);
	save(&s);
	try_all(host_bound("DEPTH", 4));
	ktap_note("%u sequences, %u of them break a rule at their end", nr_sequences, nr_broken);
}
