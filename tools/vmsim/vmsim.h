/*
 * Runs a policy of kernel/mm/policy on the host: the same C file, linked with these files, decides for
 * one process that refers to pages in a given order.
 *
 *	seam.c    reports broken rules. The kernel's own files mm/seam/{rules,hooks,handover,timer}.c,
 *	          also linked here, define the rules and the owner of each page
 *	memory.c  pages and frames, faults, time: mm/space/fault.c, mm/reclaim/frames.c,
 *	          mm/control/admission.c
 * 	reclaim.c frees frames: mm/reclaim/reclaim.c
 * 	api.c     the functions that a policy may call
 * 	report.c  the output, as JSON
 * 	host.c    crashes, and hooks that never return
 * 	main.c    options, and the reference string
 * 	script.c  instead of a reference string: locked pages, zones, few looks
 *
 * Demand paging in a fixed number of frames (the kernel's frames=N): a reference to a page that is
 * not resident is a fault. If no frame is free, the policy must select a page, at priority 12 first
 * and 0 last, and that page is evicted. The access that faults does not count as a use; every other
 * access sets the accessed bit. In the kernel, a program that makes the same references one by one
 * with a system call between them (refstring) leads to the same decisions.
 *
 * Time: references take the process's virtual time, and machine time is the same, because faults take
 * none. After every tick_ms of it the policy's tick hook is called, then trimming is done, then the
 * policy is asked whether the process may run.
 *
 * References are writes to anonymous pages, unless a kind is given (REF_*). A read leaves a page clean if
 * it has a copy in its store. Pages of a file may be mapped, or read and written by system calls. A
 * file's page that a call brought in belongs to no process, even if it is mapped later.
 *
 * Left out: read-ahead; pages that are shared, locked or under writeback when they are wanted; zones
 * (all frames are in NORMAL); a full swap area; background reclaim (a cap on frames never starts it);
 * more than one process.
 */
#ifndef VMSIM_H
#define VMSIM_H

#include "mm/rules.h"
#include "mm/swap.h"
#include "mm/zone.h"

enum { EXIT_VIOLATION = 1, EXIT_USAGE = 2 };

struct mm_struct {
	u64 policy[POLICY_MM_SIZE / 8];
};

struct counts {
	u64 references, faults, minor, evictions, trimmed, ticks, looked;
	u32 pages; /* distinct */
};

/* The kinds of reference. Without any: a program's write to its own page. */
enum {
	REF_FILE = 1, /* to a page of a file */
	REF_CALL = 2, /* by read or write, not by an instruction; only for a page of a file */
	REF_LOAD = 4, /* changes nothing */
	REF_EXEC = 8, /* fetches an instruction */
};
#define REF_KINDS 16
#define FILE_STORE 2u /* page_id.store of the file */

extern struct mm_struct sim_mm;
extern struct counts counts;
extern void *sim_future; /* --future: lib/future.h */
extern u64 sim_now_ns;   /* machine time, and the process's own */
extern u32 sim_resident; /* frames in use */

/* An entry of the page table. */
struct entry {
	struct page *page; /* NULL: not in memory */
	u32 slot;          /* in the swap area; 0: never evicted */
	bool seen, mapped, text;
};

/* memory.c */
void memory_start(u32 nr_frames);
/* `count` references of a kind to one page, which take ns together. */
void memory_run(u32 vpage, u32 count, u32 ns, u32 kind);
/* The process ends: the policy's data of it are freed. */
void memory_end(void);
struct entry *entry_of(const struct page *page);
/* Makes the next use of the page a minor fault. */
void memory_fault_first(struct page *page);
/* The page is evicted, its frame is free. */
void memory_release(struct page *page);

/* reclaim.c. Frees a frame; frees the policy's surplus and returns the number of frames. */
void reclaim_one(void);
u32 reclaim_surplus(void);

/* seam.c. A broken rule ends the program. The other hooks are called in the same way as by the kernel. */
void seam_start(void);
void seam_end(void);
/* policy_call_select and policy_call_tick (as long as it asks for more), with a report. */
struct page *seam_select(struct vm_scan *scan);
void seam_tick(void);
u32 seam_budget(void); /* of the select in progress; 0: none */
const struct vm_policy *seam_policy(void);

/* report.c. The functions about single references do nothing unless report_explains. */
extern bool report_explains;
void report_asked(const char *name, const struct vm_scan *scan);
void report_looked(const struct page *page, bool used);
void report_gave(const struct page *page, enum vm_act act);
void report_reference(u32 vpage, u32 count, u32 kind, const char *result);
void report_result(void);
void report_violation(const struct violation *v);

/* script.c: performs the events on standard input. */
void script_run(void);

/* host.c: from now on, reports a crash or a hook that does not return as a broken rule. */
void host_watch(void);

#endif
