/*
 * The token: thrashing protection laid over any policy.
 *
 * Problem. Several processes need more memory than there is. Each waits for the disk, and while it
 * waits the others' faults evict its pages, so it waits again. Global replacement treats all alike, and
 * so no process ever has the pages it needs: the processor is idle though all could run (P. Denning,
 * "Thrashing: its causes and prevention", AFIPS FJCC 1968).
 *
 * Idea. Be unfair for a while. One process gets a token, and its pages are spared. It collects the pages
 * it needs, runs at full speed, and ends, which frees its memory for the others. (S. Jiang, X. Zhang,
 * "TPF: a dynamic system thrashing protection facility", Software: Practice and Experience 32(3),
 * 2002; "Token-ordered LRU", Performance Evaluation 60, 2005.)
 *
 * To build: an answer to each of these.
 *
 *	detection  How do you know that the machine thrashes, and is not just short of memory for
 *	           a moment? fault comes for every page that must be read; vm_now and vm_idle are
 *	           clocks; what happened since you looked last?
 *	choice     Whose pages stay? mm_demand is what it has asked for, mm_rss what it has.
 *	end        When is its turn over? It ends (mm_exit: forget the pointer), it waits for something
 *	           else than a page (mm_sleeps), it has what it needs, it has had its time.
 *	bounds     What is larger than memory cannot be helped by more of it. vm_frames is how much
 *	           there is.
 *
 * Another idea will do as well, if it does as well. The rules are in mm/guard.h: what you spare is
 * a wish, which is ignored at priority 0, where some page must be evicted.
 *
 * As it stands, nothing is spared.
 */
#include "mm/guard.h"

/* Kept with every process, all zero at first: guard_mm(mm) is where. */
struct token_mm {
	u32 faults;
};
GUARD_MM_FITS(struct token_mm);

static struct mm_struct *holder; /* NULL: no process has the token */

/* mm needs a page that must be read from the disk; it has no frame for it yet. */
static void token_fault(struct mm_struct *mm)
{
	struct token_mm *t = guard_mm(mm);

	t->faults++;
}

/* This address space ends. */
static void token_mm_exit(struct mm_struct *mm)
{
	if (mm == holder)
		holder = NULL;
}

/* Shall this page stay? owner is NULL for a page that was read ahead and is still unowned. */
static bool token_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)page, (void)owner, (void)scan;
	return false;
}

/* These numbers are in the telemetry, too; `tidemark watch` shows them. */
static void token_show(struct seq_file *m)
{
	show_u64(m, "holder", holder ? mm_pid(holder) : 0);
}

static const struct vm_guard token = {
	.name = "token",
	.summary = "spares nothing",
	.fault = token_fault,
	.mm_exit = token_mm_exit,
	.spare = token_spare,
	.show = token_show,
};
VM_GUARD(token);
