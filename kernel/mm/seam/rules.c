/*
 * The rules of the policy and guard interfaces: who owns a page, what a policy may answer, and when
 * a rule is broken. Hooks that concern pages are called from this file, the other hooks from
 * hooks.c, and none from anywhere else. Both files are compiled into the kernel, the simulator and
 * the host tests; mm/rules.h says what they need from each.
 *
 * A page is owned by the policy (PG_owned), by the core (PG_isolated, between select and the core's
 * answer), or is unowned (locked in memory, not yet mapped). Cheap checks are always on. The
 * policy's own page count is compared with ours only once in several hundred selects.
 *
 * A policy is untrusted code. When it breaks a rule in the kernel, `fifo` replaces it. The contents of its
 * lists do not matter, because the core finds pages by their flags. Scans end whatever the policy does: a
 * select may examine a limited number of pages, and a pass is a limited number of selects. Each select has
 * its own budget; otherwise a policy that launders pages on its way would yield one page per pass.
 *
 * vm_eligible is also where guards are asked (mm/guard.h), before a page is isolated: a veto after
 * that would cause a storm of putbacks. A page that select returns is not checked against guards again.
 */
#include "mm/rules.h"

#include "lib/assert.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/zone.h"

#define MAX_ASKED_AGAIN 1000
#define MAX_SELECTS (4 * SWAP_CLUSTER_MAX) /* in one pass */

STATIC_ASSERT(VM_NR_ZONES == MAX_ZONES);

const struct vm_policy *vm_policy;
const struct vm_guard *vm_guards[MAX_GUARDS];
u32 vm_nr_guards, vm_guard_asked;
u32 vm_nr_isolated;
u32 swap_nr_free;
struct mm_struct *starved_mm;
bool (*starve_kept)(const struct page *page);

static u32 nr_selects, nr_asked_again;

/* Broken rules. */

const char *rules_name(const struct hook_timer *t)
{
	return t == &policy_timer ? vm_policy->name : vm_guards[vm_guard_asked]->name;
}

void rule_broken(const struct hook_timer *t, const char *rule, const char *hook,
		 const struct page *page, const char *fmt, ...)
{
	struct violation v = { t->kind, rules_name(t), rule, hook, NULL, page };
	char what[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	v.what = what;
	world_violation(&v);
}

void rule_fatal(const struct hook_timer *t, const char *rule, const char *hook, const char *fmt,
		...)
{
	struct violation v = { t->kind, rules_name(t), rule, hook, NULL, NULL };
	char what[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	v.what = what;
	world_stop(&v);
}

static void hooks_are_missing(const char *kind, const char *name, const char *what)
{
	struct violation v = { kind, name, "hooks", "", what, NULL };

	world_stop(&v);
}

void policy_require_hooks(const struct vm_policy *p)
{
	if (!p->insert || !p->remove || !p->select || !p->putback || !p->check)
		hooks_are_missing("policy", p->name,
				  "one of insert, remove, select, putback, check is missing");
}

void guard_require_hooks(const struct vm_guard *g)
{
	if (!g->spare && !g->may_run && !g->pressure && !g->tick)
		hooks_are_missing("guard", g->name,
				  "one of spare, may_run, pressure, tick must be there");
}

/* Ownership. */

static bool is_nobodys(const struct page *page)
{
	return !(page->flags & (1u << PG_owned | 1u << PG_isolated));
}

static void own(struct page *page)
{
	page_set(page, PG_owned);
	page_zone(page)->nr_owned++;
}

static void disown(struct page *page)
{
	page_clear(page, PG_owned);
	page_zone(page)->nr_owned--;
}

void policy_call_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	ASSERT(is_nobodys(page));
	own(page);
	memset(page->policy, 0, sizeof(page->policy));
	hook_enter(&policy_timer, "insert");
	vm_policy->insert(page, mm, how, from);
	hook_leave(&policy_timer);
}

void policy_call_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	if (!vm_policy->touch)
		return;
	hook_enter(&policy_timer, "touch");
	vm_policy->touch(page, mm, how);
	hook_leave(&policy_timer);
}

void policy_call_remove(struct page *page, enum vm_out why)
{
	ASSERT(page_test(page, PG_owned));
	disown(page);
	hook_enter(&policy_timer, "remove");
	vm_policy->remove(page, why);
	hook_leave(&policy_timer);
}

/* Which pages a scan may take. */

/* Can the core process the page now? */
static bool available(const struct vm_scan *scan, const struct page *page)
{
	bool anon = page_test(page, PG_anon);

	if (scan->mm && page->owner != scan->mm)
		return false;
	if (scan->zones & VM_ONLY_CAPPED && !page_is_capped(page))
		return false;
	if (!anon && page->count > page_keepers(page))
		return false;
	if (!swap_nr_free && !page_test(page, PG_swapcache) && (anon || page_test(page, PG_shmem)))
		return false;
	return (page->flags & (1u << PG_owned | 1u << PG_locked)) == 1u << PG_owned &&
	       scan->zones >> page_zone_index(page) & 1;
}

/* Does a guard spare this page? None is asked at priority 0, or when surplus pages are trimmed. */
static out_of_line bool guard_call_spare(const struct vm_scan *scan, const struct page *page)
{
	bool spares = false;

	if (!scan->priority || scan->trim)
		return false;
	for (u32 i = 0; i < vm_nr_guards && !spares; i++) {
		if (!vm_guards[i] || !vm_guards[i]->spare)
			continue;
		vm_guard_asked = i;
		hook_enter(&guard_timer, "spare");
		spares = vm_guards[i]->spare((struct page *)page, page->owner, scan);
		policy_timer.since += hook_leave(&guard_timer); /* this was not the policy's time */
	}
	return spares;
}

static bool starve_keeps(const struct page *page)
{
	return unlikely(starved_mm) && starve_kept(page);
}

bool vm_eligible(const struct vm_scan *scan, const struct page *page)
{
	if (!available(scan, page))
		return false;
	if (unlikely(vm_nr_guards) && guard_call_spare(scan, page))
		return false;
	return !starve_keeps(page);
}

static bool is_page(const struct page *page)
{
	uintptr_t offset = (uintptr_t)page - (uintptr_t)mem_map;

	return offset % sizeof(*page) == 0 && offset / sizeof(*page) < max_pfn;
}

/* Returns what is wrong with giving this page to this scan, or NULL if nothing is. */
static const char *selection_error(const struct vm_scan *scan, const struct page *page)
{
	if (!is_page(page))
		return "select returned something that is not a page";
	if (page_test(page, PG_isolated))
		return "select returned the same page twice";
	if (!page_test(page, PG_owned))
		return "select returned a page that the policy does not own";
	if (!available(scan, page))
		return "select returned a page that is not eligible";
	return NULL;
}

/* Calls the policy's check. selected: the page that select just gave, or NULL at another time. */
static void check(const struct page *selected)
{
	u32 owned = zones_nr_owned();
	char when[50] = "";
	int held;

	hook_enter(&policy_timer, "check");
	held = vm_policy->check();
	hook_leave(&policy_timer);
	if (likely(held == (int)owned))
		return;
	if (selected)
		snprintf(when, sizeof(when), " after select gave page %u", selected->index);
	if (held < 0)
		rule_broken(&policy_timer, "lists", "check", selected,
			    "check says that the lists are broken%s", when);
	else
		rule_broken(&policy_timer, "count", "check", selected,
			    "the policy holds %d pages%s, %u are its own", held, when, owned);
}

void policy_call_check(void)
{
	check(NULL);
}

/* A check walks over every page, so it is called less often if there are more pages. */
static void check_sometimes(const struct page *selected)
{
	if (++nr_selects < world_check_every + zones_nr_owned() / 16)
		return;
	nr_selects = 0;
	check(selected);
}

/* Number of pages that one select may examine. */
static u32 allowance(u32 zone_mask, int priority)
{
	u32 owned = 0;

	for (int i = 0; i < MAX_ZONES; i++)
		if (!priority || zone_mask >> i & 1)
			owned += zones[i].nr_owned;
	if (!priority) /* every page twice, including other zones' pages in the same list */
		return 2 * MAX(owned, SWAP_CLUSTER_MAX);
	return MAX(owned >> priority, SWAP_CLUSTER_MAX);
}

struct vm_scan policy_scan(u32 zone_mask, int priority)
{
	return (struct vm_scan){ .zones = zone_mask,
				 .priority = priority,
				 .allowance = allowance(zone_mask, priority),
				 .selects = MAX_SELECTS };
}

struct vm_scan policy_trim_scan(struct mm_struct *mm, u32 n, u32 resident)
{
	return (struct vm_scan){
		.mm = mm, .zones = ZONES_ALL, .trim = true, .allowance = 2 * resident, .selects = n
	};
}

static struct page *ask_for_page(struct vm_scan *scan)
{
	struct page *page;

	scan->selects--;
	scan->budget = scan->allowance;
	scan->act = VM_EVICT;
	hook_enter(&policy_timer, "select");
	page = vm_policy->select(scan);
	hook_leave(&policy_timer);
	world_scanned(MAX(scan->allowance - MIN(scan->budget, scan->allowance), !!page));
	return page;
}

struct page *policy_call_select(struct vm_scan *scan)
{
	const struct vm_policy *asked = vm_policy;
	struct page *page = scan->selects ? ask_for_page(scan) : NULL;
	const char *error;

	if (!page || vm_policy != asked) /* it took too long: another policy owns the page */
		return NULL;
	error = selection_error(scan, page);
	if (unlikely(error)) {
		rule_broken(&policy_timer, "select", "select", is_page(page) ? page : NULL, "%s",
			    error);
		return NULL;
	}
	disown(page);
	page_set(page, PG_isolated);
	vm_nr_isolated++;
	check_sometimes(page);
	return page;
}

/* Ends the isolation. Returns true if the policy that gave the page has since been replaced. */
static bool end_isolation(struct page *page)
{
	ASSERT(page_test(page, PG_isolated));
	page_clear(page, PG_isolated);
	vm_nr_isolated--;
	return page_test_and_clear(page, PG_stale);
}

void policy_call_putback(struct page *page, enum vm_put why)
{
	if (end_isolation(page)) {
		policy_call_insert(page, page->owner, VM_IN_ADOPT, page_id_of(page));
		return;
	}
	own(page);
	hook_enter(&policy_timer, "putback");
	vm_policy->putback(page, why);
	hook_leave(&policy_timer);
}

void policy_call_evicted(struct page *page, struct page_id to)
{
	nr_asked_again = 0;
	guard_call_evicted(page, page->owner, to);
	if (end_isolation(page) || !vm_policy->evicted)
		return;
	hook_enter(&policy_timer, "evicted");
	vm_policy->evicted(page, to);
	hook_leave(&policy_timer);
}

void policy_drop_isolated(struct page *page)
{
	end_isolation(page);
}

/* Calls select once more. Returns true if it gives a page, which is put back, or if its answer breaks a
 * rule: then the policy has been replaced, and the new one must not be blamed. Otherwise returns false. */
static bool gives_now(u32 zone_mask)
{
	struct vm_scan scan = { .zones = zone_mask, .allowance = 2 * max_pfn, .selects = 1 };
	const struct vm_policy *asked = vm_policy;
	struct page *page = policy_call_select(&scan);

	if (page)
		policy_call_putback(page, VM_PUT_BUSY);
	if (vm_policy != asked) {
		nr_asked_again = 0;
		return true;
	}
	if (!page)
		return false;
	if (++nr_asked_again == MAX_ASKED_AGAIN)
		rule_broken(&policy_timer, "none", "select", NULL,
			    "select gives a page only when it is asked again");
	return true;
}

static u32 count_eligible(u32 zone_mask, const struct page **first)
{
	struct vm_scan scan = { .zones = zone_mask };
	u32 nr = 0;

	for (u32 pfn = max_pfn; pfn-- > 0;)
		if (available(&scan, pfn_page(pfn)) && !starve_keeps(pfn_page(pfn))) {
			*first = pfn_page(pfn);
			nr++;
		}
	return nr;
}

/* Since select returned nothing, an interrupt may have ended a read and made pages eligible. So
 * eligible pages are counted first, and then select is called once more. */
bool policy_blame(u32 zone_mask, u32 nr_given)
{
	const struct page *first = NULL;
	u32 nr = count_eligible(zone_mask, &first);

	if (nr_given)
		rule_broken(&policy_timer, "none", "select", NULL,
			    "select gave %u pages at priority 0, but none of them to evict",
			    nr_given);
	else if (nr && !gives_now(zone_mask))
		rule_broken(&policy_timer, "none", "select", first,
			    "select gave nothing at priority 0, but %u pages are eligible", nr);
	return nr_given || nr;
}
