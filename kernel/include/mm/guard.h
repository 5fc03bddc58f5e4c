/*
 * The guard seam: thrashing protection laid over any policy. This header and lib/ are all that a
 * guard includes.
 *
 * A policy says which page goes next; a guard says which pages shall stay for the moment, because
 * of whose they are. It hears of every fault that has to read a page, before the frame is taken
 * and the disk is asked, and it is asked about every page that the policy looks at (spare is part
 * of vm_eligible). It never chooses a page itself, so that it can be laid over every policy.
 *
 * What it spares is a wish. At priority 0, the desperate one, and when surplus pages are trimmed
 * it is not asked: so even a guard that spares everything stops nothing, it only wastes time.
 *
 * Hooks run one at a time and never from interrupts: no sleeping, no allocating, no I/O. spare
 * runs inside the policy's select; it must not call what belongs to selecting (vm_eligible,
 * vm_scan_more) and better leaves the accessed bits to the policy (page_young tests them,
 * page_referenced clears them). Everything else that mm/policy.h lets a policy call, a guard
 * may call, too.
 */
#ifndef MM_GUARD_H
#define MM_GUARD_H

#include "mm/policy.h"

/* Required: spare. */
struct vm_guard {
	const char *name, *summary;
	const struct vm_param *params; /* shown as NAME.param; ends with a nameless one */

	/* An address space ends. Called before its memory is freed. */
	void (*mm_exit)(struct mm_struct *mm);
	/* mm needs a page that must be read from the store. Called by the fault handler, before
	 * it takes a frame for it. */
	void (*fault)(struct mm_struct *mm);
	/* Shall this page stay? owner: the address space that faulted it in last; NULL: not known,
	 * as of pages read ahead. Called by vm_eligible, during select, for a page that the scan
	 * could take. */
	bool (*spare)(struct page *page, struct mm_struct *owner, const struct vm_scan *scan);
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

/* A guard's own data in an address space, got by guard_mm: all zero at first. */
#define GUARD_MM_FITS(type) STATIC_ASSERT(sizeof(type) <= GUARD_MM_SIZE)

#endif
