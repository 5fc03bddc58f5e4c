/*
 * What min and vmin share: they keep each page together with its future uses.
 *
 * Each page has an entry in its process's future if it is found there when it is inserted. A page of a
 * file has one in the future of every process that will use it, so these entries are chained while it
 * is resident, and its next use is the nearest of theirs. lib/future.h does the rest. The search for the
 * farthest page looks at all pages, whatever the scan's budget: the cost of knowing the future is of no
 * interest.
 *
 * `read` does not say which process reads. It is the one whose next nonresident page that is.
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
	struct future_page *page; /* the first of its entries; NULL: in no future */
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
static u32 nr_forced; /* evictions of another page, because the farthest was in use by the kernel */

#define for_each_future(f) for (struct future *f = file->of; f < file->of + file->nr; f++)
#define for_each_peer(p, d) for (struct future_page *p = (d)->page; p; p = p->peer)

static inline struct min_page *min_data(struct page *page)
{
	return policy_page(page);
}

static inline struct future *min_future(struct mm_struct *mm)
{
	return mm ? ((struct min_mm *)policy_mm(mm))->future : NULL;
}

static inline struct future *min_of(const struct min_page *d)
{
	return d->page ? &file->of[d->page->space] : NULL;
}

static inline int min_init(void)
{
	file = vm_future();
	if (!file || !future_open(file)) {
		printk("command line: future=: this policy needs the run's own future, not used yet: "
		       "`tidemark min`\n");
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
	if (d->future)
		d->future->mm = mm;
	nr_spaces++;
}

static inline void min_mm_exit(struct mm_struct *mm)
{
	if (min_future(mm))
		future_end(min_future(mm));
}

static inline void min_hold(struct min_page *d)
{
	list_add_tail(&d->node, &pages);
	for_each_peer(p, d)
		p->holder = d;
}

static inline void min_let_go(struct min_page *d)
{
	list_del(&d->node);
	for_each_peer(p, d)
		p->holder = NULL;
}

/* Returns false for a page that no future can name: of shared memory, or of a device. */
static inline bool min_name(const struct page *page, struct future_name *name)
{
	u32 store = page_id_of(page).store;

	*name = (struct future_name){ store >= FILE_STORES ? store : 0, page_vpn(page) };
	return store <= 1 || name->file;
}

/* Returns the future of the process that has read or written this page of a file. A space that is not
 * born yet may read, too: exec reads the program on its behalf. */
static inline struct future *min_reader(struct future_name name)
{
	for (int unborn = 0; unborn < 2; unborn++)
		for_each_future(f) {
			if ((f->mm ? 0 : 1) != unborn)
				continue;
			future_advance(f, UINT32_MAX);
			if (future_expects(f, name))
				return f;
		}
	return &file->of[file->main];
}

/* A page that write(2) fills as a whole is dirty already: it has not been read. */
static inline void min_came(struct page *page, struct mm_struct *mm, struct future_name name,
			    enum vm_in how, struct page_id from)
{
	bool made = name.file && how == VM_IN_READ && page_dirty(page);
	struct future *f = mm || !name.file || !file->nr ? min_future(mm) : min_reader(name);

	if (!f)
		return;
	future_came(f, name);
	f->returned += from.store && !made;
}

/* Chains the entries of the page: for a page of a file those of all futures. */
static inline void min_find(struct min_page *d, struct mm_struct *mm, struct future_name name)
{
	struct future_page *p;

	for_each_future(f) {
		p = name.file || f == min_future(mm) ? future_find(f, name) : NULL;
		if (p) {
			p->peer = d->page;
			d->page = p;
		}
	}
}

static inline void min_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			      struct page_id from)
{
	struct min_page *d = min_data(page);
	struct future_name name;

	if (min_name(page, &name)) {
		if (how == VM_IN_FAULT || how == VM_IN_CLAIM || how == VM_IN_READ)
			min_came(page, mm, name, how, from);
		min_find(d, mm, name);
	}
	min_hold(d);
}

/* The references up to now count as made while the page was resident. */
static inline void min_remove(struct page *page, enum vm_out why)
{
	struct min_page *d = min_data(page);

	(void)why;
	for_each_peer(p, d)
		if (file->of[p->space].mm)
			future_advance(&file->of[p->space], UINT32_MAX);
	min_let_go(d);
}

/* Returns the distance of this next use: time first, to compare processes; then order. */
static inline u64 min_entry_distance(const struct future_page *p)
{
	const struct future *f = &file->of[p->space];

	if (p->next == FUTURE_NEVER)
		return UINT64_MAX;
	if (!f->mm || mm_sleeps(f->mm))
		return UINT64_MAX - 1;
	return (u64)(f->refs[p->next].time - f->refs[f->ahead].time) << 32 | (p->next - f->ahead);
}

static inline u64 min_distance(const struct min_page *d)
{
	u64 least = UINT64_MAX;

	for_each_peer(p, d)
		least = MIN(least, min_entry_distance(p));
	return least;
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
	struct min_page *d, *found = NULL;
	u64 most = 0, in_use = 0;

	list_for_each_entry(d, &pages, node) {
		u64 far = min_distance(d);

		if (found && far <= most)
			continue;
		if (vm_eligible(scan, policy_page_of(d)))
			found = d, most = far;
		else
			in_use = MAX(in_use, d->page ? far : 0);
	}
	nr_forced += found && in_use > most;
	return found;
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

	for_each_future(f) {
		lost += f->lost;
		early += f->early;
	}
	show_u64(m, "pages", min_check());
	show_u64(m, "lost", lost);
	show_u64(m, "early", early);
	show_u64(m, "forced", nr_forced);
	show_u64(m, "main_faults", file->nr ? file->of[file->main].came : 0);
	show_u64(m, "main_read", file->nr ? file->of[file->main].returned : 0);
	show_u64(m, "main_lost", file->nr ? file->of[file->main].lost : 0);
}

#endif
