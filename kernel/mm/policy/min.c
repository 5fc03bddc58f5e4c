/*
 * MIN: the page whose next use is farthest away goes. It takes a future, which only an exact run
 * has.
 *
 * No policy that keeps as many pages has fewer faults (L. Belady, "A study of replacement
 * algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966). It cannot be built,
 * for it must know what comes. But an exact run repeats, and which pages a program refers to does
 * not depend on which of them are in memory. So `tidemark min` runs a program once and records its
 * references, then again under this policy with the real future: lib/future.h.
 *
 *	program stands at       D fault, three frames: A B C
 *	it will refer to        D A B A D C        C's next use is the farthest: C goes
 *
 * One process. With a cap on frames (frames=N), and nothing read ahead, the faults are those that
 * Belady's algorithm has on paper, one by one.
 *
 * Several processes. Who refers first to what depends on who waits for which fault: it is another
 * order under each policy, and so nobody knows it beforehand. Only each process's own string is
 * known. Here the distance of a page is the time that its own process will run until it uses the
 * page. A process that sleeps, and not for a page, will not run: its pages go before those of
 * others. That is a good rule, but not the best one, so what it measures is no bound.
 *
 * Of pages that are equal in this the one that came first goes. Passing a million references takes
 * long for a hook; the tick does most of it, in portions.
 *
 * Left out: a page that processes share after a fork counts for the one that faulted it in. Memory
 * that a zone lacks is sought in that zone, and kswapd takes many pages at once: without a cap on
 * frames it is MIN among those that must go.
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
