/*
 * The core's side of the policy seam: ownership, rules, time.
 *
 * Every hook is called from here and nowhere else. A page is owned by the policy (PG_owned), by
 * the core (PG_isolated, between select and its answer), or by nobody (locked in memory,
 * not yet mapped). Checks that cost little are always on; the comparison of the policy's own
 * count with ours runs every few hundred selects.
 *
 * A policy is untrusted code. When it breaks a rule, the event is printed and sent as
 * telemetry with the policy's and the rule's name, and from then on `fifo` decides (or, were it
 * fifo's fault, the machine stops). What the broken policy's lists held does not matter: the
 * core finds all pages by their flags. A hook that never returns is found by the timer tick,
 * which can only stop the machine.
 *
 * vm_eligible is also where a guard is asked (mm/guard.h), before anything is isolated: a veto after
 * it would make a storm of putbacks. What select returns is not held against the guard's wish.
 */
#include "mm/policy_core.h"

#include "errno.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/guard_core.h"
#include "mm/mm.h"
#include "mm/reclaim.h"
#include "mm/starve.h"
#include "mm/swap.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "proc/task.h"
#include "observe/telemetry.h"

#define FALLBACK "fifo"
#define CHECK_EVERY 256
#define HOOK_LIMIT_NS 200000000u /* reported when it returns */
#define HOOK_HUNG_NS 1000000000u /* stopped by the tick */

const struct vm_policy *vm_policy;
u32 vm_nr_isolated;
u64 policy_cycles;

static const char *hook;               /* the one that is running */
static u64 hook_since;
static u32 nr_selects, nr_violations;
static bool taking_over;

static void violation(const char *rule, const char *fmt, ...) __printf(2, 3);

static u32 nr_owned(void)
{
	return zones[0].nr_owned + zones[1].nr_owned + zones[2].nr_owned;
}

static inline void hook_enter(const char *name)
{
	if (unlikely(hook))
		panic("policy %s: hook %s called inside hook %s", vm_policy->name, name, hook);
	hook_since = cycles_now();
	hook = name;
}

static void hook_was_slow(const char *name, u64 cycles)
{
	u64 ns = cycles_to_ns(cycles);

	if (ns > HOOK_LIMIT_NS)
		violation("time", "hook %s took %llu us, the limit is %u", name, ns / 1000,
			  HOOK_LIMIT_NS / 1000);
}

static inline void hook_leave(void)
{
	u64 cycles = cycles_now() - hook_since;
	const char *name = hook;

	hook = NULL;
	policy_cycles += cycles;
	if (unlikely(cycles > HOOK_LIMIT_NS / 2))
		hook_was_slow(name, cycles);
}

void policy_not_its_time(u64 cycles)
{
	hook_since += cycles;
}

void vm_watch_hook(void)
{
	guard_watch_hook();
	if (hook && cycles_to_ns(cycles_now() - hook_since) > HOOK_HUNG_NS)
		panic("policy violation: policy=%s rule=time: hook %s has not returned for 1 s",
		      vm_policy->name, hook);
}

void policy_report_hook(void)
{
	guard_report_hook();
	if (hook)
		printk("policy: %s, in its hook %s\n", vm_policy->name, hook);
}

static void violation(const char *rule, const char *fmt, ...)
{
	char what[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	nr_violations++;
	vm_count(policy_violation);
	printk("policy violation: policy=%s rule=%s: %s\n", vm_policy->name, rule, what);
	telemetry_event("violation", "\"policy\":\"%s\",\"rule\":\"%s\",\"what\":\"%s\"",
			vm_policy->name, rule, what);
	if (taking_over) /* the fallback complains about what it is given: it comes too late */
		return;
	if (!strcmp(vm_policy->name, FALLBACK))
		panic("the fallback policy itself is broken");
	printk("policy %s is switched off; " FALLBACK " goes on\n", vm_policy->name);
	taking_over = true;
	policy_take_over(policy_find(FALLBACK), true);
	taking_over = false;
}

u32 policy_violations(void)
{
	return nr_violations;
}

void vm_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	ASSERT(!page_test(page, PG_owned) && !page_test(page, PG_isolated));
	page_set(page, PG_owned);
	page_zone(page)->nr_owned++;
	memset(page->policy, 0, sizeof(page->policy));
	hook_enter("insert");
	vm_policy->insert(page, mm, how, from);
	hook_leave();
}

void vm_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	if (!vm_policy->touch)
		return;
	hook_enter("touch");
	vm_policy->touch(page, mm, how);
	hook_leave();
}

void vm_remove(struct page *page, enum vm_out why)
{
	ASSERT(page_test(page, PG_owned));
	page_clear(page, PG_owned);
	page_zone(page)->nr_owned--;
	hook_enter("remove");
	vm_policy->remove(page, why);
	hook_leave();
}

bool vm_scan_more(struct vm_scan *scan)
{
	if (!scan->budget)
		return false;
	scan->budget--;
	if (current->flags & TF_KTHREAD)
		vm_count(pgscan_kswapd);
	else
		vm_count(pgscan_direct);
	return true;
}

/* Could the core work on it? */
static bool available(const struct vm_scan *scan, const struct page *page)
{
	if (scan->mm && page->owner != scan->mm)
		return false;
	if (!swap_nr_free && !page_test(page, PG_swapcache))
		return false;
	return scan->zones >> page_zone_index(page) & 1 && page_test(page, PG_owned) &&
	       !page_test(page, PG_locked);
}

bool vm_eligible(const struct vm_scan *scan, const struct page *page)
{
	return available(scan, page) && !(vm_guard && guard_spares(scan, page)) &&
	       !starve_keeps(page);
}

/* What is wrong with giving this page to this scan; NULL: nothing. */
static const char *selection_error(const struct vm_scan *scan, const struct page *page)
{
	u32 offset = (u32)page - (u32)mem_map;

	if (offset % sizeof(*page) || offset / sizeof(*page) >= max_pfn)
		return "select returned something that is not a page";
	if (page_test(page, PG_isolated))
		return "select returned the same page twice";
	if (!page_test(page, PG_owned))
		return "select returned a page that the policy does not own";
	if (!available(scan, page))
		return "select returned a page that is not eligible";
	return NULL;
}

/* A check walks over every page: the more there are, the rarer it is. */
static void check_sometimes(void)
{
	if (++nr_selects < CHECK_EVERY + nr_owned() / 16)
		return;
	nr_selects = 0;
	vm_check();
}

struct page *vm_select(struct vm_scan *scan)
{
	const struct vm_policy *asked;
	const char *error;
	struct page *page;

	check_sometimes();
	scan->act = VM_EVICT;
	asked = vm_policy;
	hook_enter("select");
	page = asked->select(scan);
	hook_leave();
	if (!page || vm_policy != asked) /* it took too long: the page is another policy's now */
		return NULL;
	error = selection_error(scan, page);
	if (unlikely(error)) {
		violation("select", "%s", error);
		return NULL;
	}
	page_clear(page, PG_owned);
	page_zone(page)->nr_owned--;
	page_set(page, PG_isolated);
	vm_nr_isolated++;
	page_get(page);
	return page;
}

/* Ends the isolation; true: the policy of that time has been replaced since. */
static bool end_isolation(struct page *page)
{
	ASSERT(page_test(page, PG_isolated));
	page_clear(page, PG_isolated);
	vm_nr_isolated--;
	return page_test_and_clear(page, PG_stale);
}

void vm_putback(struct page *page, enum vm_put why)
{
	struct page_id none = { 0 };

	if (end_isolation(page)) {
		vm_insert(page, page->owner, VM_IN_ADOPT, none);
		return;
	}
	page_set(page, PG_owned);
	page_zone(page)->nr_owned++;
	hook_enter("putback");
	vm_policy->putback(page, why);
	hook_leave();
}

void vm_evicted(struct page *page, struct page_id to)
{
	if (end_isolation(page) || !vm_policy->evicted)
		return;
	hook_enter("evicted");
	vm_policy->evicted(page, to);
	hook_leave();
}

void vm_drop_isolated(struct page *page)
{
	end_isolation(page);
}

void vm_forget(struct page_id id)
{
	if (!vm_policy->forget)
		return;
	hook_enter("forget");
	vm_policy->forget(id);
	hook_leave();
}

void vm_mm_init(struct mm_struct *mm)
{
	if (!vm_policy->mm_init)
		return;
	hook_enter("mm_init");
	vm_policy->mm_init(mm);
	hook_leave();
}

void vm_mm_exit(struct mm_struct *mm)
{
	if (!vm_policy->mm_exit)
		return;
	hook_enter("mm_exit");
	vm_policy->mm_exit(mm);
	hook_leave();
}

u32 vm_surplus(struct mm_struct *mm)
{
	u32 n = 0;

	if (vm_policy->surplus) {
		hook_enter("surplus");
		n = vm_policy->surplus(mm);
		hook_leave();
	}
	return n;
}

bool vm_may_run(struct mm_struct *mm)
{
	bool may = true;

	if (vm_policy->may_run) {
		hook_enter("may_run");
		may = vm_policy->may_run(mm);
		hook_leave();
	}
	return may;
}

bool vm_tick(void)
{
	bool more = false;

	if (vm_policy->tick) {
		hook_enter("tick");
		more = vm_policy->tick();
		hook_leave();
	}
	return more;
}

void vm_check(void)
{
	u32 owned = nr_owned();
	int held;

	hook_enter("check");
	held = vm_policy->check();
	hook_leave();
	if (held < 0)
		violation("lists", "check says that the lists are broken");
	else if ((u32)held != owned)
		violation("count", "the policy holds %d pages, %u are its own", held, owned);
}

/* An interrupt may have ended a read since the last scan: the policy is asked once more. */
static bool gives_now(struct vm_scan *scan)
{
	struct page *page = vm_select(scan);

	if (!page)
		return false;
	vm_putback(page, VM_PUT_BUSY);
	page_put(page);
	return true;
}

bool vm_blame(u32 zone_mask)
{
	struct vm_scan scan = { .zones = zone_mask, .budget = 2 * max_pfn };
	const struct vm_policy *asked = vm_policy;

	for (u32 pfn = 0; pfn < max_pfn; pfn++) {
		struct page *page = pfn_page(pfn);

		if (!available(&scan, page) || starve_keeps(page))
			continue;
		if (gives_now(&scan) || vm_policy != asked)
			return true;
		if (!strcmp(vm_policy->name, FALLBACK))
			return false;
		violation("none", "select gave nothing at priority 0, but page %#x is eligible",
			  pfn);
		return true;
	}
	return false;
}

u64 vm_now(void)
{
	return clock_ns();
}

u32 vm_frames(void)
{
	u32 have = vm_nr_isolated, spare = 0;

	for (int i = 0; i < MAX_ZONES; i++) {
		have += zones[i].nr_owned;
		if (zones[i].nr_free > zones[i].watermark[WMARK_LOW])
			spare += zones[i].nr_free - zones[i].watermark[WMARK_LOW];
	}
	have += spare;
	return frames_cap ? MIN(have, frames_cap) : have;
}
