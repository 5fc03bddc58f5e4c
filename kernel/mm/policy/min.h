/*
 * What min and vmin share: they keep each page together with its future uses.
 *
 * Each page has an entry in its process's future if it is found there when it is inserted.
 * lib/future.h does the rest. The search for the farthest page looks at all pages, whatever the
 * scan's budget: the cost of knowing the future is of no interest.
 */
#ifndef MM_POLICY_MIN_H
#define MM_POLICY_MIN_H

#include "errno.h"
#include "lib/future.h"
#include "lib/printf.h"
#include "mm/policy.h"

#define PORTION 50000u /* references */

struct min_page {
	struct list_head node;
	struct future *of; /* of its process; NULL: the process has no future */
	struct future_page *page; /* NULL: not in that future */
	u32 last; /* vmin only: last reference that is over */
};
POLICY_PAGE_FITS(struct min_page);

struct min_mm {
	struct future *future;
	/* vmin only */
	u64 since_ns; /* the process's time at its last fault */
	u32 since; /* number of the reference of that fault */
	u32 passed; /* all references before this one are over */
};
POLICY_MM_FITS(struct min_mm);

static LIST_HEAD(pages); /* in order of insertion */
static struct future_file *file;
static u32 nr_spaces;

static inline struct min_page *min_data(struct page *page)
{
	return policy_page(page);
}

static inline struct future *min_future(struct mm_struct *mm)
{
	return mm ? ((struct min_mm *)policy_mm(mm))->future : NULL;
}

static inline int min_init(void)
{
	file = vm_future();
	if (!file || !future_open(file)) {
		printk("this policy needs the run's own future, whole and unused: `tidemark min`\n");
		return -EINVAL;
	}
	nr_spaces = 0;
	return 0;
}

/* Counts address spaces from the first program on; if switched on later, the count is wrong. */
static inline void min_mm_init(struct mm_struct *mm)
{
	struct min_mm *d = policy_mm(mm);

	d->future = nr_spaces < file->nr ? &file->of[nr_spaces] : NULL;
	nr_spaces++;
}

static inline void min_hold(struct min_page *d)
{
	list_add_tail(&d->node, &pages);
	if (d->page)
		d->page->holder = d;
}

static inline void min_let_go(struct min_page *d)
{
	list_del(&d->node);
	if (d->page)
		d->page->holder = NULL;
}

static inline void min_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			      struct page_id from)
{
	struct min_page *d = min_data(page);
	bool fault = how == VM_IN_FAULT || how == VM_IN_CLAIM;

	d->of = min_future(mm);
	if (d->of && fault) {
		d->page = future_came(d->of, page_vpn(page));
		d->of->returned += from.store != 0;
	} else if (d->of) {
		d->page = future_find(d->of, page_vpn(page));
	}
	min_hold(d);
}

/* The references up to now count as made while the page was resident. */
static inline void min_remove(struct page *page, enum vm_out why)
{
	struct min_page *d = min_data(page);

	(void)why;
	if (d->of)
		future_advance(d->of, UINT32_MAX);
	min_let_go(d);
}

/* Returns the distance of the page's next use: time first, to compare processes; then order. */
static inline u64 min_distance(struct min_page *d)
{
	const struct future *f = d->of;
	struct mm_struct *mm = page_mm(policy_page_of(d));

	if (!d->page || d->page->next == FUTURE_NEVER)
		return UINT64_MAX;
	if (mm && mm_sleeps(mm))
		return UINT64_MAX - 1;
	return (u64)(f->refs[d->page->next].time - f->refs[f->ahead].time) << 32 |
	       (d->page->next - f->ahead);
}

static inline bool min_advance_all(u32 most)
{
	bool more = false;

	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		if (min_future(mm))
			more |= future_advance(min_future(mm), most);
	return more;
}

static inline struct min_page *min_search(const struct vm_scan *scan)
{
	struct min_page *d, *farthest = NULL;
	u64 most = 0;

	list_for_each_entry(d, &pages, node) {
		u64 far = min_distance(d);

		if ((!farthest || far > most) && vm_eligible(scan, policy_page_of(d))) {
			farthest = d;
			most = far;
		}
	}
	return farthest;
}

static inline struct page *min_farthest(struct vm_scan *scan)
{
	struct min_page *d;

	min_advance_all(UINT32_MAX);
	d = min_search(scan);
	if (d)
		min_let_go(d);
	return d ? policy_page_of(d) : NULL;
}

static inline void min_putback(struct page *page, enum vm_put why)
{
	(void)why;
	min_hold(min_data(page));
}

static inline int min_check(void)
{
	return vm_list_length(&pages);
}

static inline void min_show(struct seq_file *m)
{
	u32 lost = 0, early = 0;

	for (const struct future *f = file->of; f < file->of + file->nr; f++) {
		lost += f->lost;
		early += f->early;
	}
	show_u64(m, "pages", min_check());
	show_u64(m, "lost", lost);
	show_u64(m, "early", early);
	show_u64(m, "main_faults", file->nr ? file->of[file->main].came : 0);
	show_u64(m, "main_read", file->nr ? file->of[file->main].returned : 0);
	show_u64(m, "main_lost", file->nr ? file->of[file->main].lost : 0);
}

#endif
