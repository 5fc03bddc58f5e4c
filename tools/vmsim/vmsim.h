/*
 * Runs a policy of kernel/mm/policy on the host: the same C file, linked with these files, decides for
 * one process that refers to pages in a given order.
 *
 * From the bottom to the top; a file uses only those before it:
 *
 *	kernel.c  what a policy uses of the kernel besides the policy interface
 *	memory.c  the page table, frames, and what is counted: mm/reclaim/frames.c
 *	report.c  the output, as JSON
 *	api.c     the functions that a policy may call
 *	seam.c    reports broken rules. The kernel's own files mm/seam/{rules,hooks,handover,timer}.c,
 *	          also linked here, define the rules and the owner of each page
 *	reclaim.c frees frames: mm/reclaim/reclaim.c
 *	process.c references, faults, time: mm/space/fault.c, mm/control/admission.c
 *	crowd.c   several processes that take turns; only scripts have them
 *	script.c  events that a reference string lacks: locked pages, zones, a small budget
 *	many.c    many short strings, each from a fresh start
 *	host.c    reports a policy that crashes, or whose hook never returns
 *	main.c    options, and the reference string
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
 * more than one process, except in a script.
 */
#ifndef VMSIM_H
#define VMSIM_H

#include "mm/rules.h"
#include "mm/swap.h"
#include "mm/zone.h"

enum { EXIT_VIOLATION = 1, EXIT_USAGE = 2 };

struct mm_struct {
	u64 policy[POLICY_MM_SIZE / 8];
	struct mm_struct *next; /* the next younger process */
	u32 resident, demand;   /* pages in memory, and those that it has allocated */
	u64 ran_ns;             /* its own time, until it was switched to last */
	bool held, stopped;     /* by the last answer of may_run, by any: it waits */
	u32 lost;               /* pages that were evicted */
	bool asleep;            /* crowd.c */
	u32 nr_used;            /* crowd.c: the pages that it uses in each turn */
};

struct counts {
	u64 references, faults, minor, evictions, trimmed, ticks, looked;
	u32 stops; /* a process that ran must wait */
};

/* The kinds of reference. Without any: a program's write to its own page. */
enum {
	REF_FILE = 1, /* to a page of a file */
	REF_CALL = 2, /* by read or write, not by an instruction; only for a page of a file */
	REF_LOAD = 4, /* changes nothing */
	REF_EXEC = 8, /* fetches an instruction */
};
#define REF_KINDS 16
#define FILE_STORE (FILE_STORES + 2) /* page_id.store of the file */

/* An entry of the page table. */
struct entry {
	struct page *page; /* NULL: not in memory */
	u32 slot;          /* in the swap area; 0: never evicted */
	/* faults: at the next use, although the page is in memory (trapped, or unmapped by VM_DETACH). */
	bool seen, mapped, text, faults;
};

/* memory.c */
extern struct mm_struct sim_mm; /* the first process, and the only one unless a script has more */
extern struct mm_struct *sim_oldest, *sim_current; /* NULL: no process; no process runs */
#define for_each_mm(mm) for (struct mm_struct *mm = sim_oldest; mm; mm = mm->next)
extern struct counts counts;
extern u64 sim_now_ns; /* machine time */
extern u64 sim_since_ns; /* since when sim_current has run */
extern u32 sim_resident; /* frames in use */
void memory_start(u32 nr_frames);
/* Takes the process's pages from the policy, with all that it remembers of them: the process
 * ends. */
void memory_forget(void);
/* The same for one of several processes: its pages are those of one leaf. */
void memory_forget_leaf(u32 leaf);
void memory_free(void);
/* The page tables of the process and of the file: pointers to leaves, NULL for those that no page needed yet. */
#define LEAF_SHIFT 14
#define LEAF_SIZE (1u << LEAF_SHIFT)
extern struct entry **memory_leaves[2];
struct entry *memory_add_leaf(struct entry **leaf);
/* Inline for speed: each reference needs it. */
static inline struct entry *entry_at(u32 vpage, bool of_file)
{
	struct entry **leaf = &memory_leaves[of_file][vpage >> LEAF_SHIFT];

	return &(likely(*leaf) ? *leaf : memory_add_leaf(leaf))[vpage % LEAF_SIZE];
}
struct entry *entry_of(const struct page *page);
/* Returns a free frame; there must be one. */
struct page *memory_take(void);
/* Makes the next use of the page a minor fault. */
void memory_fault_first(struct page *page);
/* The same, and the page is not mapped until then. */
void memory_unmap(struct page *page);
/* Evicts the page and frees its frame. */
void memory_release(struct page *page);

/* report.c. The functions about single references do nothing unless report_explains. */
extern bool report_explains;
void report_asked(const char *name, const struct vm_scan *scan);
void report_looked(const struct page *page, bool used);
void report_gave(const struct page *page, enum vm_act act);
void report_reference(u32 vpage, u32 count, u32 kind, const char *result);
void report_result(void);
void report_violation(const struct violation *v);

/* api.c */
extern void *sim_future; /* --future: lib/future.h */

/* seam.c. A broken rule ends the program. The other hooks are called in the same way as by the kernel. */
void seam_start(void);
void seam_end(void);
/* policy_call_select and policy_call_tick (as long as it asks for more), with a report. */
struct page *seam_select(struct vm_scan *scan);
void seam_tick(void);
u32 seam_budget(void); /* of the select in progress; 0: none */
const struct vm_policy *seam_policy(void);

/* reclaim.c. Frees a frame; frees the policy's surplus and returns the number of frames. */
void reclaim_one(void);
u32 reclaim_surplus(void);

/* process.c */
void process_start(u32 nr_frames);
/* `count` references of a kind to one page, which take ns together. If there are several processes, they
 * are those of sim_current, and a process that must wait is held. */
void process_run(u32 vpage, u32 count, u32 ns, u32 kind);
/* Time without references. */
void process_wait(u32 ns);
/* Calls may_run and returns its answer. */
bool process_may_run(struct mm_struct *mm);
/* Ends the process and frees the policy's data of it. */
void process_end(void);

/* crowd.c. Process number 1 is the first; another one begins when it is asked for. */
struct mm_struct *crowd_process(u32 number);
void crowd_switch(struct mm_struct *mm); /* NULL: no process runs */
void crowd_uses(struct mm_struct *mm, u32 nr); /* its pages, all used in each turn */
/* All processes take turns for ms of machine time. Returns how often one had to stop. */
u32 crowd_run(u32 ms);
void crowd_end(u32 number);
/* Returns the number of pages that processes lost which never had to wait. */
u32 crowd_lost(void);

/* script.c: performs the events on standard input. */
void script_run(void);

/* many.c: runs the strings on standard input. */
void many_run(void);

/* host.c: from now on, reports a crash or a hook that does not return as a broken rule. */
void host_watch(void);

#endif
