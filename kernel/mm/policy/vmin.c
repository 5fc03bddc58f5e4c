/*
 * VMIN: evicts a page right after a reference if its next use is more than tau away.
 *
 * VMIN is the optimal variable-space policy: for every mean number of pages it has the fewest
 * faults, as MIN has for every fixed number (B. Prieve and R. Fabry, "VMIN: an optimal
 * variable-space page replacement algorithm", CACM 19(5), 1976). To keep a page until its next use
 * costs memory for that time; to evict it costs a fault. tau is the time at which keeping becomes
 * more expensive than the fault. A working set with the same window has the same faults, but it
 * keeps a page for tau after its last use before it finds that the page was not needed. VMIN saves
 * that memory. Like MIN, it needs the run's own future.
 *
 *	references        A    B    A    C    B    A      tau: 2 steps
 *	next use, steps   2    3    3    -    -    -
 *	resident          A    A B  A    C    B    A      A is kept once, B is evicted at once
 *
 * Time is the process's own, in instructions of its program. A page counts as in use until the
 * process refers to another page of its reference string.
 *
 * Different from the paper: pages are evicted at ticks, every millisecond, not at references.
 * Between two faults, the process's position follows from the time it has run since the last fault;
 * a reference counts as over when the next one must have been made some microseconds ago. So pages
 * stay longer, by the time between two ticks, and if a page is used again within that time, the
 * fault is avoided. When memory is short, the page whose next use is farthest away is evicted, as
 * with min.
 */
#include "min.h"

#define MARGIN 4 /* maximum error of the time that a process has run; 1024 instructions */

static u32 tau_us = 100000;
static u64 nr_given_back;
static LIST_HEAD(due); /* pages to evict; the others are on `pages` */

static const struct vm_param vmin_params[] = {
	{ "tau_us", &tau_us, 1000, UINT32_MAX, "us",
	  "evicts pages whose next use is farther away" },
	{ 0 },
};

static struct min_mm *vmin_mm(struct mm_struct *mm)
{
	return policy_mm(mm);
}

/* Is the page's next use after this reference more than tau away? */
static bool far_away(const struct future *f, u32 ref)
{
	u32 next = f->refs[ref].next;
	u64 tau = tau_us * 1000ull >> 10;

	return next == FUTURE_NEVER || f->refs[next].time - f->refs[ref + 1].time > tau;
}

static void pass_reference(struct min_mm *d, const struct future *f)
{
	struct min_page *held = future_page_at(f, d->passed)->holder;

	if (held) {
		held->last = d->passed;
		list_move_tail(&held->node, far_away(f, d->passed) ? &due : &pages);
	}
	d->passed++;
}

/* A fault shows where the process is: all references before it are over. */
static void vmin_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from)
{
	struct future *f = min_future(mm);

	min_insert(page, mm, how, from);
	if (!f || how == VM_IN_ADOPT)
		return;
	while (vmin_mm(mm)->passed < f->at)
		pass_reference(vmin_mm(mm), f);
	vmin_mm(mm)->since_ns = mm_vtime(mm);
	vmin_mm(mm)->since = f->at < f->nr_refs ? f->refs[f->at].time : 0;
}

/* Keeps due pages that may have been used again by now. */
static void keep_used(const struct future *f, u64 now)
{
	struct min_page *d, *next;

	list_for_each_entry_safe(d, next, &due, node)
		if (min_of(d) == f && f->refs[d->last].next != FUTURE_NEVER &&
		    f->refs[f->refs[d->last].next].time <= now + MARGIN)
			list_move_tail(&d->node, &pages);
}

/* Passes the references that the process must have made since its last fault. */
static void pass_references(struct mm_struct *mm, struct future *f)
{
	struct min_mm *d = vmin_mm(mm);
	u64 now = d->since + ((mm_vtime(mm) - d->since_ns) >> 10);

	while (d->passed + 1 < f->ahead && f->refs[d->passed + 1].time + MARGIN < now)
		pass_reference(d, f);
	f->at = d->passed;
	keep_used(f, now);
}

static bool vmin_tick(void)
{
	bool more = min_advance_all(PORTION);

	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		if (min_future(mm))
			pass_references(mm, min_future(mm));
	return more;
}

static u32 vmin_surplus(struct mm_struct *mm)
{
	struct min_page *d;
	u32 n = 0;

	list_for_each_entry(d, &due, node)
		n += page_mm(policy_page_of(d)) == mm;
	return n;
}

static struct page *due_page(struct vm_scan *scan)
{
	struct min_page *d;

	list_for_each_entry(d, &due, node)
		if (vm_eligible(scan, policy_page_of(d)))
			return policy_page_of(d);
	return NULL;
}

/* Prepares the eviction of a page and returns it. If the string has a use of the page between at
 * and ahead, goes back to that use: the process may not have made it yet. */
static struct page *give_back(struct page *page)
{
	struct min_page *d = min_data(page);

	min_let_go(d);
	future_go_back(min_of(d), d->page->name);
	nr_given_back++;
	return page;
}

static struct page *vmin_select(struct vm_scan *scan)
{
	struct page *page = due_page(scan);

	if (page)
		return give_back(page);
	return scan->trim ? NULL : min_farthest(scan);
}

static int vmin_check(void)
{
	int n = vm_list_length(&due);

	return n < 0 || min_check() < 0 ? -1 : n + min_check();
}

static void vmin_show(struct seq_file *m)
{
	min_show(m);
	show_u64(m, "due", vm_list_length(&due));
	show_u64(m, "given_back", nr_given_back);
}

static int vmin_init(void)
{
	int err = min_init();

	if (err || !file->nr_of_files)
		return err;
	printk("command line: future=: it has pages of files, which only vm=min knows\n");
	return -EINVAL;
}

static const struct vm_policy vmin = {
	.name = "vmin",
	.summary = "evicts a page if its next use is more than tau away, by the run's own future",
	.tick_ms = 1,
	.params = vmin_params,
	.init = vmin_init,
	.mm_init = min_mm_init,
	.mm_exit = min_mm_exit,
	.insert = vmin_insert,
	.remove = min_remove,
	.select = vmin_select,
	.putback = min_putback,
	.surplus = vmin_surplus,
	.tick = vmin_tick,
	.check = vmin_check,
	.show = vmin_show,
};
VM_POLICY(vmin);
