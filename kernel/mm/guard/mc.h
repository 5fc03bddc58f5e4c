/*
 * What the patches of A. McMenamin have in common here: mc62 to mc75, named after the sections of
 * his report (Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck,
 * University of London, 2011).
 *
 * He walked over all pages of a process's file at each call, so many at a time (PAGEGRAB) under a
 * lock. Here it is the pages that the policy owns and the process faulted in: with NAME.kind=1 those
 * of files that it maps, as his, with 2 its own memory, with 3, unless told otherwise, both. Pages
 * that are only read and written are nobody's. And a hook may not take long: a call works on so many
 * pages, and the next call goes on where it stopped.
 *
 * He acted in kswapd only. Pressure also comes when who needs memory reclaims it: that is the
 * nearest to his test of the MIN watermark.
 */
#ifndef MM_GUARD_MC_H
#define MM_GUARD_MC_H

#include "mm/guard.h"

/* Kept with every process. */
struct mc_mm {
	struct page *at; /* where the last call stopped; NULL: begin anew */
};
GUARD_MM_FITS(struct mc_mm);

enum { MC_FILE = 1, MC_ANON = 2 };

static u32 kind = MC_FILE | MC_ANON; /* each guard has its own */

#define MC_KIND                                                                                    \
	{ "kind", &kind, 1, 3, NULL, "pages of: 1 mapped files, 2 anonymous memory, 3 both" }

static inline bool mc_of_kind(const struct page *page)
{
	return kind & (page_is_file(page) ? MC_FILE : MC_ANON);
}

/* Works on so many pages of mm at most. One call ends with the last page, as his loop did. */
static inline void mc_walk(struct mm_struct *mm, u32 pages, void (*work)(struct page *page))
{
	struct mc_mm *d = guard_mm(mm);

	do {
		d->at = vm_next_page(mm, d->at);
		if (!d->at || !mc_of_kind(d->at))
			continue;
		work(d->at);
		pages--;
	} while (d->at && pages);
}

/* Who has most; *second: who had most of those before it in the list, which need not be the second
 * largest. His list is in order of age, too. */
static inline struct mm_struct *mc_biggest(u32 (*size)(struct mm_struct *mm),
					   struct mm_struct **second)
{
	struct mm_struct *biggest = NULL;

	*second = NULL;
	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		if (size(mm) > (biggest ? size(biggest) : 0)) {
			*second = biggest;
			biggest = mm;
		}
	return biggest;
}

#endif
