/*
 * Half-life: FIFO that also discards a page once it has been in memory for some half-lives.
 *
 * Suppose that the time for which a process needs a page is random in the simplest way: in every
 * moment each page has the same small chance of not being needed any more. Then pages decay like
 * atoms, with a half-life. Of the pages that entered together, half are still needed after one
 * half-life, a quarter after two:
 *
 *	age in half-lives      0     1     2     3     4
 *	still needed, %      100    50    25    12     6
 *
 * Under this assumption the time of entry says how likely it is that a page is still needed, and
 * the oldest page is the least likely. No accessed bit is read and no page is moved: pages wait in
 * FIFO queues in order of entry, and a page older than half_life_ms * multiple is given back at the
 * next tick, although memory may be free. If memory is short before any page is that old, the
 * oldest goes: FIFO.
 *
 * Which clock? A page entered the working set of a process, and a process needs pages for as long
 * as it computes: its half-life is a property of the program. So age is the process's virtual time.
 * By machine time, pages would also decay while their process waits for the disk. A process that
 * can read 100 pages a second could then never have more than 100 pages for each second of the
 * limit, however much memory is free, and the more it waits, the fewer it would have.
 *
 *	all   all pages, in the order in which they entered memory: the FIFO queue
 *	own   the pages of one process, in the order in which they entered it; only its head can be
 *	      the first page beyond the limit. Unowned pages (read ahead, or only used by read and
 *	      write) have no such clock: they wait in `all` until memory is short
 *
 * A page that passes to another process keeps its place in `all`, and is new in that process.
 *
 * The assumption has a consequence that speaks against the policy. If decay has no memory, a page
 * that is needed now will be needed for as long as a new one, whatever its age; one look at its
 * accessed bit would tell, and this policy does not look. And if some pages are needed for much
 * longer than most, as code and stack are, the oldest pages are the best ones.
 *
 * A. McMenamin, "The binomial distribution, part 1", blog "cartesian product", 27 November 2011,
 * suggests it as a question. He expects that it fails on a general system, since even one program
 * (his example is MySQL) mixes several distributions, and that it might be tuned for a machine with
 * one application. The clock and what happens when memory is short are decisions made here. His
 * simpler variant, to discard pages beyond a fixed limit on what is stored, is fifo with frames=N.
 */
#include "mm/policy.h"

struct halflife_page {
	struct list_head all, own;
	u64 entered; /* on its process's clock, ns */
};
POLICY_PAGE_FITS(struct halflife_page);

struct halflife_mm {
	struct list_head own;
};
POLICY_MM_FITS(struct halflife_mm);

static u32 half_life_ms = 1000, multiple = 4;
static LIST_HEAD(all);
static u32 nr_unowned;
static u64 nr_expired, nr_early; /* pages given back by age; pages evicted before that */

static const struct vm_param halflife_params[] = {
	{ "half_life_ms", &half_life_ms, 1, 3600000, "ms",
	  "half-life of pages, process virtual time" },
	{ "multiple", &multiple, 1, 100, NULL, "half-lives after which a page is given back" },
	{ 0 },
};

static struct halflife_page *halflife_data(struct page *page)
{
	return policy_page(page);
}

static struct list_head *own_of(struct mm_struct *mm)
{
	struct halflife_mm *h = policy_mm(mm);

	return &h->own;
}

static int halflife_init(void)
{
	INIT_LIST_HEAD(&all);
	nr_unowned = 0;
	nr_expired = nr_early = 0;
	return 0;
}

static void halflife_mm_init(struct mm_struct *mm)
{
	INIT_LIST_HEAD(own_of(mm));
}

/* The page enters a process now. The node of an unowned page is a ring of its own. */
static void enter(struct halflife_page *p, struct mm_struct *mm)
{
	INIT_LIST_HEAD(&p->own);
	nr_unowned += !mm;
	if (!mm)
		return;
	p->entered = mm_vtime(mm);
	list_add_tail(&p->own, own_of(mm));
}

static void leave(struct halflife_page *p)
{
	nr_unowned -= list_empty(&p->own);
	list_del(&p->own);
}

static void enlist(struct page *page)
{
	list_add_tail(&halflife_data(page)->all, &all);
	enter(halflife_data(page), page_mm(page));
}

static void delist(struct page *page)
{
	list_del(&halflife_data(page)->all);
	leave(halflife_data(page));
}

static void halflife_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			    struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enlist(page);
}

static void halflife_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

static void halflife_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	(void)from;
	leave(halflife_data(page));
	enter(halflife_data(page), to);
}

static bool expired(const struct halflife_page *p, struct mm_struct *mm)
{
	return mm_vtime(mm) - p->entered > (u64)half_life_ms * multiple * 1000000;
}

static u32 halflife_surplus(struct mm_struct *mm)
{
	struct halflife_page *p;
	u32 n = 0;

	list_for_each_entry(p, own_of(mm), own) {
		if (!expired(p, mm))
			break;
		n++;
	}
	return n;
}

static struct page *first_expired(struct vm_scan *scan)
{
	struct halflife_page *p;

	list_for_each_entry(p, own_of(scan->mm), own) {
		if (!expired(p, scan->mm) || !vm_scan_more(scan))
			break;
		if (vm_eligible(scan, policy_page_of(p)))
			return policy_page_of(p);
	}
	return NULL;
}

static struct page *first_in(struct vm_scan *scan)
{
	struct halflife_page *p;

	list_for_each_entry(p, &all, all) {
		if (!vm_scan_more(scan))
			break;
		if (vm_eligible(scan, policy_page_of(p)))
			return policy_page_of(p);
	}
	return NULL;
}

static struct page *halflife_select(struct vm_scan *scan)
{
	struct page *page = scan->trim ? first_expired(scan) : first_in(scan);

	if (!page)
		return NULL;
	if (scan->trim)
		nr_expired++;
	else
		nr_early++;
	delist(page);
	return page;
}

/* The page stays, because it was used while it was written, or could not be: it enters again. */
static void halflife_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enlist(page);
}

/* Each page is in `all`, and either on the list of its process or unowned. */
static int halflife_check(void)
{
	int sum = vm_list_length(&all), left = sum - (int)nr_unowned;

	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm)) {
		int n = vm_list_length(own_of(mm));

		if (n < 0)
			return -1;
		left -= n;
	}
	return left ? -1 : sum;
}

static void halflife_show(struct seq_file *m)
{
	show_u64(m, "queue", vm_list_length(&all));
	show_u64(m, "expired", nr_expired);
	show_u64(m, "evicted_early", nr_early);
}

static const struct vm_policy halflife = {
	.name = "halflife",
	.summary = "FIFO that gives a page back after some half-lives in memory",
	.params = halflife_params,
	.init = halflife_init,
	.mm_init = halflife_mm_init,
	.insert = halflife_insert,
	.remove = halflife_remove,
	.moved = halflife_moved,
	.select = halflife_select,
	.putback = halflife_putback,
	.surplus = halflife_surplus,
	.check = halflife_check,
	.show = halflife_show,
};
VM_POLICY(halflife);
