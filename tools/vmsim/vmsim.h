/*
 * A policy of kernel/mm/policy on the host: the very same C file, linked with these files, decides
 * for one process that refers to pages in a given order.
 *
 *	seam.c    what becomes of a broken rule. Which rules there are and who owns a page say the
 *	          kernel's own files mm/seam/{rules,hooks,handover,timer}.c, linked here, too
 *	memory.c  pages and frames, faults, time: mm/space/fault.c, mm/reclaim/frames.c,
 *	          mm/seam/admission.c
 *	reclaim.c how a frame becomes free: mm/reclaim/reclaim.c
 *	api.c     what a policy may call
 *	report.c  what happened, as JSON
 *	host.c    what a policy takes from lib/ and mm/slab.h; crashes, and hooks that never return
 *	main.c    options, and the string of references
 *	script.c  instead of a string: locked pages, zones, few looks
 *
 * Demand paging in a fixed number of frames (the kernel's frames=N): a reference to a page that is
 * not in memory is a fault; when all frames are taken the policy is asked for a page, at priority
 * 12 first and 0 last, and that one leaves. The access that faults is not a use; every other one
 * sets the accessed bit. A program that makes one reference after another with a system call
 * between them (refstring) meets the same decisions in the kernel.
 *
 * Time. References take the process's virtual time, and machine time is the same: faults take
 * none. The policy's tick comes every tick_ms of it, then trimming, then the question whether
 * the process may run.
 *
 * References are writes to anonymous pages, unless a kind is given (REF_*): what only reads leaves a page
 * clean, if it has a copy in its store; pages of a file may be mapped, or read and written by system
 * calls. A file's page that a call brought in belongs to no process, also when it is mapped later.
 *
 * Left out: read-ahead, pages that are shared, locked or being written when they are wanted, zones (all frames are in NORMAL), a full swap area,
 * background reclaim (a cap on frames never starts it), more than one process.
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

/* What a reference is, besides a program's write to its own page. */
enum {
	REF_FILE = 1, /* to a page of a file */
	REF_CALL = 2, /* by read or write, not by an instruction: only to a file's */
	REF_LOAD = 4, /* it changes nothing */
	REF_EXEC = 8, /* it fetches an instruction */
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
	u32 slot;          /* in the swap area; 0: it has never left */
	bool seen, mapped, text;
};

/* memory.c */
void memory_start(u32 nr_frames);
/* `count` references of a kind to one page, which take ns together. */
void memory_run(u32 vpage, u32 count, u32 ns, u32 kind);
/* The process ends: the policy is left with nothing. */
void memory_end(void);
struct entry *entry_of(const struct page *page);
/* The next use of the page shall be a minor fault. */
void memory_fault_first(struct page *page);
/* The page has left memory, its frame is free. */
void memory_release(struct page *page);

/* reclaim.c. Frees a frame; and as many as the policy counts as surplus, returns how many. */
void reclaim_one(void);
u32 reclaim_surplus(void);

/* seam.c. A broken rule ends the program. Other hooks are called as the kernel calls them. */
void seam_start(void);
void seam_end(void);
/* policy_call_select and policy_call_tick (as long as it asks for more), reported. */
struct page *seam_select(struct vm_scan *scan);
void seam_tick(void);
u32 seam_budget(void); /* of the select that is running, 0: none is */
const struct vm_policy *seam_policy(void);

/* report.c. What concerns single references does nothing unless report_explains. */
extern bool report_explains;
void report_asked(const char *name, const struct vm_scan *scan);
void report_looked(const struct page *page, bool used);
void report_gave(const struct page *page, enum vm_act act);
void report_reference(u32 vpage, u32 count, u32 kind, const char *result);
void report_result(void);
void report_violation(const struct violation *v);

/* script.c: performs what standard input says. */
void script_run(void);

/* host.c: from now on a crash, or a hook that does not return, is reported as a broken rule. */
void host_watch(void);

#endif
