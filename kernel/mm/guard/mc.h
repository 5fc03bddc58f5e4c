/*
 * Common code of A. McMenamin's patches: mc62 to mc75, named after the sections of his report
 * (Applying Working Set Heuristics to the Linux Kernel, MSc report, Birkbeck, University of London,
 * 2011).
 *
 * Each call of his patches walked over all pages of a process's file, PAGEGRAB pages at a time
 * under a lock. Here there is no such lock. A walk covers the pages that the policy owns and that
 * the process faulted in: up to NAME.pagegrab of them, by default 4,096, which is all in 16 MiB; the
 * next call continues where one stopped. NAME.kind=1 selects pages of mapped files, as in his
 * patches, 2 the process's own memory, and 3, the default, both. Pages that are only read and
 * written are unowned.
 *
 * His patches work on the lists of Linux and their referenced flag, and so do these under 2q, by
 * the hook demote. Other policies have no such lists: instead pages lose their accessed bits, and
 * unused ones are hinted as DONTNEED.
 *
 * His patches act only in kswapd. Here pressure also comes when a process must reclaim memory
 * itself: that is the nearest to his test of the MIN watermark.
 */
#ifndef MM_GUARD_MC_H
#define MM_GUARD_MC_H

#include "mm/guard.h"

/* Kept with every process. */
struct mc_mm {
	struct page *at; /* where the last call stopped; NULL: start with the first page */
};
GUARD_MM_FITS(struct mc_mm);

enum { MC_FILE = 1, MC_ANON = 2 };

static u32 kind = MC_FILE | MC_ANON; /* one per guard */

#define MC_ALL 4096 /* pages in a call: all of a process in 16 MiB */

#define MC_KIND                                                                                    \
	{ "kind", &kind, 1, 3, NULL, "pages of: 1 mapped files, 2 anonymous memory, 3 both" }

static inline bool mc_of_kind(const struct page *page)
{
	return kind & (page_is_file(page) ? MC_FILE : MC_ANON);
}

static inline void mc_unreference(struct page *page)
{
	if (!vm_demote(page, VM_UNREFERENCE))
		page_referenced(page);
}

/* Works on at most `pages` pages of mm. A call ends at the last page, as his loop did. */
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

/* Returns the largest process. *second: the largest of those before it in the list, which need not
 * be the second largest. His list is in order of age, too. */
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
