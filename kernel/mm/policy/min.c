/*
 * MIN: evicts the page whose next use is farthest in the future. It needs to know the future, which
 * is known only in exact runs.
 *
 * No policy that keeps the same number of pages has fewer faults (L. Belady, "A study of
 * replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966). MIN
 * cannot be built, because it must know future references. But an exact run is repeatable, and the
 * pages that a program refers to do not depend on which of them are resident. So `tidemark min`
 * runs a program once and records its references, then again under this policy with the recorded
 * future: lib/future.h. It lies in memory above mem=, put there before the machine starts: hooks must
 * neither sleep nor do I/O, so a future on a disk would have to be read into that memory first. The
 * kernel refuses at boot a future that is not there, does not fit, is damaged, or was recorded with
 * another command (mm/frame/bootmem.c). From min_init on only this policy uses it, in place.
 *
 *	program stands at       D fault, three frames: A B C
 *	it will refer to        D A B A D C        C's next use is the farthest: evict C
 *
 * Pages. A process's own pages are named by their numbers; pages of files on disks by page_id, which
 * is the same in every run (the file's inode number and the page). MIN need not see each use of them:
 * whether a page is mapped or read by a system call, its process stops at the first page that is not
 * resident. Shared memory and metadata have no names here: their pages are evicted first.
 *
 * One process. With a cap on frames (frames=N, and frames_files=1 if it uses files) and without
 * readahead, the faults are exactly those of Belady's algorithm on paper. One exception: a page from
 * which a system call is copying cannot be evicted, even if it is the farthest (`forced`).
 *
 * Several processes. The order of references of different processes depends on which process waits
 * for which fault. It differs from policy to policy, so it is not known beforehand. Only each
 * process's own reference string is known. Here the distance of a page is the time that its own
 * process will run until it uses the page. A process that sleeps for a reason other than a page
 * will not run: its pages are evicted before those of others. That is a good rule, but not the best
 * one, so the result is not a bound.
 *
 * Of pages at the same distance, the one inserted first is evicted. Advancing over a million
 * references takes long for a hook; the tick does most of it, in portions.
 *
 * Left out: a page that processes share after a fork counts for the process that faulted it in.
 * When a zone is short of memory, the victim must be in that zone, and kswapd evicts many pages at
 * once: without a cap on frames, this is MIN among the pages that may be evicted.
 */
#include "min.h"

static bool min_tick(void)
{
	return min_advance_all(PORTION);
}

static const struct vm_policy min = {
	.name = "min",
	.summary = "the page whose next use is farthest away, by the run's own future",
	.init = min_init,
	.mm_init = min_mm_init,
	.insert = min_insert,
	.remove = min_remove,
	.select = min_farthest,
	.putback = min_putback,
	.tick = min_tick,
	.check = min_check,
	.show = min_show,
};
VM_POLICY(min);
