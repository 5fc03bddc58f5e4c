/* The seam's hooks: see vmsim.h, and mm/seam/hooks.c, whose rules these are. */
#include "vmsim.h"

#include "lib/printf.h"
#include "lib/string.h"

extern const struct vm_policy *const __policies_start[];

#define PAGES_PER_CHECK 16 /* the more pages, the rarer the full check */
#define MAX_TICKS 1000000

struct mm_struct sim_mm;
static const struct vm_policy *policy;
static u32 nr_owned, nr_selects;
static const char *hook, *last_hook = "init";

const struct vm_policy *seam_policy(void)
{
	return __policies_start[0];
}

const char *seam_hook(void)
{
	return hook;
}

const char *seam_last_hook(void)
{
	return last_hook;
}

u32 seam_nr_owned(void)
{
	return nr_owned;
}

void seam_violation(const char *rule, const struct page *page, const char *fmt, ...)
{
	char what[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	report_violation(rule, page, what);
	exit(EXIT_VIOLATION);
}

static void hook_enter(const char *name)
{
	if (hook)
		seam_violation("nested", NULL, "hook %s called inside hook %s", name, hook);
	hook = last_hook = name;
}

static void hook_leave(void)
{
	hook = NULL;
}

static void own(struct page *page)
{
	page_set(page, PG_owned);
	page_zone(page)->nr_owned = ++nr_owned;
}

static void disown(struct page *page)
{
	page_clear(page, PG_owned);
	page_zone(page)->nr_owned = --nr_owned;
}

static void demand_hooks(void)
{
	if (!policy->insert || !policy->remove || !policy->select || !policy->putback ||
	    !policy->check)
		seam_violation("hooks", NULL,
			       "one of insert, remove, select, putback, check is missing");
}

void seam_start(void)
{
	int err;

	policy = seam_policy();
	demand_hooks();
	hook = "init";
	err = policy->init ? policy->init() : 0;
	hook = NULL;
	if (err)
		seam_violation("init", NULL, "it does not start: error %d", -err);
	hook_enter("mm_init");
	if (policy->mm_init)
		policy->mm_init(&sim_mm);
	hook_leave();
}

void seam_insert(struct page *page, struct page_id from)
{
	memset(page->policy, 0, sizeof(page->policy));
	own(page);
	hook_enter("insert");
	policy->insert(page, &sim_mm, VM_IN_FAULT, from);
	hook_leave();
}

void seam_touch(struct page *page, enum vm_touch how)
{
	if (!policy->touch)
		return;
	hook_enter("touch");
	policy->touch(page, &sim_mm, how);
	hook_leave();
}

void seam_remove(struct page *page, enum vm_out why)
{
	disown(page);
	hook_enter("remove");
	policy->remove(page, why);
	hook_leave();
}

static bool is_page(const struct page *page)
{
	uintptr_t offset = (uintptr_t)page - (uintptr_t)mem_map;

	return offset % sizeof(*page) == 0 && offset / sizeof(*page) < max_pfn;
}

/* What is wrong with giving this page to this scan; NULL: nothing. */
static const char *selection_error(const struct vm_scan *scan, const struct page *page)
{
	if (!is_page(page))
		return "select returned something that is not a page";
	if (page_test(page, PG_isolated))
		return "select returned the same page twice";
	if (!page_test(page, PG_owned))
		return "select returned a page that the policy does not own";
	if (!vm_eligible(scan, page))
		return "select returned a page that is not eligible";
	return NULL;
}

/* selected: what select has just given, NULL: the check comes at another time. */
static void check(const struct page *selected)
{
	char when[60] = "";
	int held;

	if (selected)
		snprintf(when, sizeof(when), " after select gave page %u", selected->index);
	hook_enter("check");
	held = policy->check();
	if (held < 0)
		seam_violation("lists", selected, "check says that the lists are broken%s", when);
	if ((u32)held != nr_owned)
		seam_violation("count", selected, "the policy holds %d pages%s, %u are its own",
			       held, when, nr_owned);
	hook_leave();
}

static void check_sometimes(const struct page *selected)
{
	if (nr_selects++ % (nr_owned / PAGES_PER_CHECK + 1) == 0)
		check(selected);
}

struct page *seam_select(struct vm_scan *scan)
{
	struct page *page;
	const char *error;

	scan->act = VM_EVICT;
	report_asked("select", scan);
	hook_enter("select");
	page = policy->select(scan);
	error = page ? selection_error(scan, page) : NULL;
	if (error)
		seam_violation("select", is_page(page) ? page : NULL, "%s", error);
	hook_leave();
	report_gave(page, scan->act);
	if (!page)
		return NULL;
	disown(page);
	page_set(page, PG_isolated);
	check_sometimes(page);
	return page;
}

void seam_putback(struct page *page, enum vm_put why)
{
	page_clear(page, PG_isolated);
	own(page);
	hook_enter("putback");
	policy->putback(page, why);
	hook_leave();
}

void seam_evicted(struct page *page, struct page_id to)
{
	page_clear(page, PG_isolated);
	if (!policy->evicted)
		return;
	hook_enter("evicted");
	policy->evicted(page, to);
	hook_leave();
}

void seam_forget(struct page_id id)
{
	if (!policy->forget)
		return;
	hook_enter("forget");
	policy->forget(id);
	hook_leave();
}

u32 seam_surplus(void)
{
	u32 n = 0;

	if (policy->surplus) {
		hook_enter("surplus");
		n = policy->surplus(&sim_mm);
		hook_leave();
	}
	return n;
}

bool seam_may_run(void)
{
	bool may = true;

	if (policy->may_run) {
		hook_enter("may_run");
		may = policy->may_run(&sim_mm);
		hook_leave();
	}
	return may;
}

void seam_tick(void)
{
	bool more = true;

	report_asked("tick", NULL);
	for (u32 i = 0; more; i++) {
		hook_enter("tick");
		if (i == MAX_TICKS)
			seam_violation("time", NULL, "tick always asks to be called again");
		more = policy->tick();
		hook_leave();
	}
}

void seam_show(struct seq_file *m)
{
	if (!policy->show)
		return;
	hook_enter("show");
	policy->show(m);
	hook_leave();
}

void seam_end(void)
{
	check(NULL);
	if (policy->mm_exit) {
		hook_enter("mm_exit");
		policy->mm_exit(&sim_mm);
		hook_leave();
	}
	hook = "exit";
	if (policy->exit)
		policy->exit();
	hook = NULL;
}
