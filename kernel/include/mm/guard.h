/*
 * The guard interface: thrashing protection that works with any policy. A guard includes this
 * header, mm/ghost.h and lib/ only.
 *
 * A policy chooses the next page to evict. A guard works on top of the policy and never chooses a
 * page itself. It can act in four ways, and uses one or more of them:
 *
 *	spare     keeps pages resident for the moment, because of their owner: vm_eligible calls
 *	          it for every page that the policy could give
 *	may_run   makes processes wait, so that the others have enough memory
 *	pressure  gives hints to the policy, when memory becomes short, which pages matter more or less
 *	tick      called periodically, on request also while the machine is idle: gives the same
 *	          hints, and prefetches pages
 *
 * Several guards may be chosen (guard=loadctl,prefetch). Each has data of its own. A page stays
 * resident if one of them spares it; a process runs only if all guards and the policy permit it.
 *
 * Sparing is a request, not a guarantee. The core does not call spare at priority 0, the most
 * desperate one, or when it trims surplus pages. So even a guard that spares every page cannot stop
 * reclaim; it only wastes time. A guard that stops processes must give each of them a turn: if no
 * process was permitted to run for a minute although one was ready, the guard has broken a rule.
 *
 * Hooks run one at a time and never from interrupts. They must not sleep, allocate memory or do I/O.
 * spare runs inside the policy's select: it must not call what belongs to selecting (vm_eligible,
 * vm_scan_more) or give hints, and should leave the accessed bits to the policy (page_young tests
 * them, page_referenced clears them). Apart from that, a guard may call everything that mm/policy.h
 * lets a policy call. Only the guard that breaks a rule is switched off.
 */
#ifndef MM_GUARD_H
#define MM_GUARD_H

#include "mm/policy.h"

/* Required hooks: at least one of spare, may_run, pressure, tick. */
struct vm_guard {
	const char *name, *summary;
	u32 tick_ms; /* interval of tick; 0: 100 ms */
	const struct vm_param *params; /* shown as NAME.param; the last entry has no name */

	/* Called at boot if chosen. May allocate. Returns 0, or -errno to be switched off. */
	int (*init)(void);
	/* An address space ends. Called before its memory is freed. */
	void (*mm_exit)(struct mm_struct *mm);
	/* mm needs a page that must be read from its store. Called by the fault handler, before
	 * it allocates a frame for the page. */
	void (*fault)(struct mm_struct *mm);
	/* Returns true if this page shall stay resident. owner: the address space that last faulted
	 * it in; NULL: unknown, as for pages read ahead. Called by vm_eligible, during select, for
	 * a page that the scan could take. */
	bool (*spare)(struct page *page, struct mm_struct *owner, const struct vm_scan *scan);
	/* May this process run now? Called after its faults, after ticks, while it is held back. */
	bool (*may_run)(struct mm_struct *mm);
	/* Free memory fell below the low watermark. min: below min, where tasks must reclaim. */
	void (*pressure)(bool min);
	/* Called every tick_ms of machine time; on an idle machine only if it last returned true. */
	bool (*tick)(void);
	/* A page of owner (NULL: unowned) has been evicted; it can be read again from `to`. */
	void (*evicted)(struct page *page, struct mm_struct *owner, struct page_id to);
	/* The swap slot is free, or the page of the file no longer exists. */
	void (*forget)(struct page_id id);
	/* Prints lines for /proc/vm/guard; numbers of show_u64 are also in the telemetry. */
	void (*show)(struct seq_file *m);
};

/* Registers the guard: the build finds this line and adds the guard to a table. */
#define VM_GUARD(g)                                                                                \
	extern const struct vm_guard *const VM_ENTRY(guard, VM_FILE, g);                           \
	const struct vm_guard *const VM_ENTRY(guard, VM_FILE, g) = &(g)

/* What a guard may call, in addition to the functions of mm/policy.h. */

/* Pages of mm that hold something: those resident and those in the swap area. */
u32 mm_touched(struct mm_struct *mm);
/* The PID of mm's process; 0: it has no process yet. */
u32 mm_pid(struct mm_struct *mm);
/* Machine time in which no task was ready to run, in ns since boot. */
u64 vm_idle(void);
/* Number of frames that can be allocated until free memory falls to `times` the high watermark, or
 * until the cap on frames is reached. */
u32 vm_free(u32 times);
/* The process that is first (or last) in the queue for the processor; NULL: none is waiting. */
struct mm_struct *vm_queued(bool last);
/* Returns the next page after `page` that the policy owns and that mm last faulted in, or NULL if
 * there is none; with page NULL, the first such page. The order has no meaning. */
struct page *vm_next_page(struct mm_struct *mm, struct page *page);
/* Reports a use of the page, or DONTNEED, to the policy. Not from spare, evicted, forget. */
void vm_hint(struct page *page, enum vm_touch touch);
/* Gives the policy a hint in the terms of Linux's lists. Returns false if it has no such lists. Not
 * from spare, evicted, forget. */
bool vm_demote(struct page *page, enum vm_demote how);
/* Requests that the page and its neighbours in the store are read after this hook returns, if
 * enough memory is free. Only from tick. Returns false if the queue is full. Ignores files' pages. */
bool vm_prefetch(struct page_id id);
/* As vm_prepage, but reads nr pages at most, in order of slots. Only from tick. */
void vm_prepage_some(struct mm_struct *mm, u32 nr);
/* Requests one extra reclaim run: nr frames beyond the high watermark, none from spared pages. */
void vm_make_room(u32 nr);

/* A guard's own data in an address space, returned by guard_mm; all zero at first. */
#define GUARD_MM_FITS(type) STATIC_ASSERT(sizeof(type) <= GUARD_MM_SIZE)

#endif
