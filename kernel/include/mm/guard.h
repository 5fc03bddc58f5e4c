/*
 * The guard seam: thrashing protection laid over any policy. This header, mm/ghost.h and lib/ are
 * all that a guard includes.
 *
 * A policy says which page goes next. A guard lies over any policy and never chooses a page itself. It
 * has four ways to act, and uses one or more of them:
 *
 *	spare     pages that shall stay for the moment, because of whose they are: it is asked about
 *	          every page that the policy could give (spare is part of vm_eligible)
 *	may_run   processes that shall wait, so that the others have enough
 *	pressure  when memory becomes short it may hint to the policy which pages count more or less
 *	tick      now and then, also while the machine has nothing else to do: the same hints, and pages to
 *	          be read before anybody asks
 *
 * Several guards may be chosen (guard=loadctl,prefetch). Each has data of its own; a page stays if one of
 * them spares it, and a process runs if all of them and the policy let it.
 *
 * What it spares is a wish. At priority 0, the desperate one, and when surplus pages are trimmed
 * it is not asked: so even a guard that spares everything stops nothing, it only wastes time. A
 * guard that stops processes must see to it that each has its turn: when for a minute nobody was
 * allowed to run though somebody wanted to, it has broken a rule.
 *
 * Hooks run one at a time and never from interrupts: no sleeping, no allocating, no I/O. spare
 * runs inside the policy's select; it must not call what belongs to selecting (vm_eligible,
 * vm_scan_more), give no hints, and better leave the accessed bits to the policy (page_young tests
 * them, page_referenced clears them). Everything else that mm/policy.h lets a policy call, a guard
 * may call, too. A guard that breaks a rule is switched off, it alone.
 */
#ifndef MM_GUARD_H
#define MM_GUARD_H

#include "mm/policy.h"

/* Required: one of spare, may_run, pressure, tick. */
struct vm_guard {
	const char *name, *summary;
	u32 tick_ms; /* how often tick is called; 0: every 100 ms */
	const struct vm_param *params; /* shown as NAME.param; ends with a nameless one */

	/* At boot, if it has been chosen; may allocate. 0, or -errno: then it is switched off. */
	int (*init)(void);
	/* An address space ends. Called before its memory is freed. */
	void (*mm_exit)(struct mm_struct *mm);
	/* mm needs a page that must be read from the store. Called by the fault handler, before
	 * it takes a frame for it. */
	void (*fault)(struct mm_struct *mm);
	/* Shall this page stay? owner: the address space that faulted it in last; NULL: not known,
	 * as of pages read ahead. Called by vm_eligible, during select, for a page that the scan
	 * could take. */
	bool (*spare)(struct page *page, struct mm_struct *owner, const struct vm_scan *scan);
	/* May this process run now? Asked after its faults, after ticks, and while it is held back. */
	bool (*may_run)(struct mm_struct *mm);
	/* Free memory has fallen below low; min: so far that who needs memory must reclaim it. */
	void (*pressure)(bool min);
	/* Every tick_ms of machine time while anything runs; true: also while nothing does. */
	bool (*tick)(void);
	/* A page of owner (NULL: nobody's) has left memory; it can be read again from `to`. */
	void (*evicted)(struct page *page, struct mm_struct *owner, struct page_id to);
	/* The slot is free, or the page of the file is gone for good. */
	void (*forget)(struct page_id id);
	/* Lines for /proc/vm/guard; what show_u64 shows is in the telemetry, too. */
	void (*show)(struct seq_file *m);
};

/* Registers the guard: the build finds this line and puts the guard into a table. */
#define VM_GUARD(g)                                                                                \
	extern const struct vm_guard *const VM_ENTRY(guard, VM_FILE, g);                           \
	const struct vm_guard *const VM_ENTRY(guard, VM_FILE, g) = &(g)

/* What a guard may call, besides the questions of mm/policy.h. */

/* Memory allocation demand, pages: what it has asked for, resident or not. */
u32 mm_demand(struct mm_struct *mm);
/* The number of its process; 0: it has none yet. */
u32 mm_pid(struct mm_struct *mm);
/* Machine time in which nobody could run, ns since boot. */
u64 vm_idle(void);
/* So many frames can be taken until only `times` high watermarks are free, or the cap is
 * reached. */
u32 vm_free(u32 times);
/* Of those that wait for the processor, who comes first or last; NULL: nobody waits. */
struct mm_struct *vm_queued(bool last);
/* The page after `page` that the policy owns and mm faulted in last, in no special order; from
 * NULL: the first; NULL: that was the last. */
struct page *vm_next_page(struct mm_struct *mm, struct page *page);
/* Tells the policy of a use, or of DONTNEED, in a page's name; not from spare, evicted, forget. */
void vm_hint(struct page *page, enum vm_touch touch);
/* The page shall be read, with its neighbours in the store, when this hook is over, if there is memory
 * to spare; only from tick. False: no more of them now. Pages of files are not read so. */
bool vm_prefetch(struct page_id id);
/* So many frames shall be made free, beyond the high watermark, in one go: not from what is spared. */
void vm_make_room(u32 nr);

/* A guard's own data in an address space, got by guard_mm: all zero at first. */
#define GUARD_MM_FITS(type) STATIC_ASSERT(sizeof(type) <= GUARD_MM_SIZE)

#endif
