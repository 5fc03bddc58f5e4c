/*
 * The policy seam: which page goes next. This header and lib/ are all that a policy includes.
 *
 * Ownership. Every reclaimable page has exactly one owner: the policy (it is on the policy's lists)
 * or the core. insert gives a page to the policy; select hands one to the core, which answers
 * with exactly one putback or evicted, or frees the page if its user died meanwhile (then no
 * hook is called). touch and remove are called only for pages that the policy owns. Locked ones
 * (mlock) are taken away by remove(VM_OUT_PINNED).
 *
 * Hooks. All but init and exit run one at a time and never from interrupts: no sleeping, no
 * allocating, no I/O, and no hook is called from inside a hook. The core measures the time spent
 * in them. A broken rule (a page the policy does not own, one that is not eligible, none at
 * priority 0 although there is one, a list that does not add up, a hook that takes too long) is
 * reported by name, and the core goes on with fifo. mm/seam/rules.c has all the rules.
 *
 * A page's identity is its page_id. An anonymous page gets one, a swap slot, before it is evicted
 * for the first time; a page of a file has it from the start. The ghost of an evicted page is its
 * page_id until forget; mm/ghost.h keeps them.
 *
 * Pages of files. Some are mapped, and seen as anonymous ones are: by accessed bits. Others are only
 * read and written, by system calls, each of which is a touch(VM_TOUCH_IO). They are dropped
 * without a write while nobody has changed them. Files that live in memory alone (ramfs) can lose
 * none, and no policy sees theirs.
 *
 * Shared memory (of mmap, memfd, System V, tmpfs) is mapped, read and written as files are, and has the
 * identity of one, but it goes to the swap area: page_is_file says no.
 */
#ifndef MM_POLICY_H
#define MM_POLICY_H

#include "lib/list.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/seq_file.h"
#include "mm/page.h"
#include "mm/policy_mm.h"
#include "types.h"

struct page_id {
	u32 store; /* 0: none yet; 1: the swap area; more: a file, or shared memory */
	u32 index; /* slot, or page of the file */
};

enum vm_in {
	VM_IN_FAULT,    /* somebody's access brought it in; that access is not a use */
	VM_IN_PREFETCH, /* read ahead; nobody has asked for it yet */
	VM_IN_CLAIM,    /* somebody asks for what was read ahead; remove(MOVED) came before */
	VM_IN_READ, /* read or write brought it in, and that use is over: a file's, not mapped */
	VM_IN_ADOPT, /* the policy has just been switched on and takes over the page */
};

enum vm_out {
	VM_OUT_FREED, /* its last user is gone */
	VM_OUT_PINNED, /* locked in memory */
	VM_OUT_SWITCH, /* another policy takes over */
	VM_OUT_MOVED, /* a page read ahead is asked for, or see `moved`: insert follows */
};

enum vm_touch {
	VM_TOUCH_MINOR, /* a fault found it in memory (trapped, detached or read ahead) */
	VM_TOUCH_IO, /* read or write found it, or the kernel used it for its user */
	VM_TOUCH_WILLNEED, /* madvise */
	VM_TOUCH_DONTNEED,
};

enum vm_act {
	VM_EVICT, /* unmap, write if dirty, free */
	VM_DETACH, /* unmap only; a minor fault can rescue it */
	VM_LAUNDER, /* write if dirty; stays mapped */
};

enum vm_put {
	VM_PUT_DONE, /* detached or laundered as asked */
	VM_PUT_USED, /* somebody used it while it was being written */
	VM_PUT_BUSY, /* could not be worked on just now */
	VM_PUT_NOSWAP, /* no swap slot is free */
	VM_PUT_IOERR, /* the write failed */
};

/* One reclaim pass: a number of selects, each with a budget of its own. */
struct vm_scan {
	struct mm_struct *mm; /* take only from here; NULL: anywhere */
	u32 zones; /* bit per acceptable zone */
	int priority; /* 12 (calm) down to 0 (desperate), as in Linux */
	bool trim; /* take only what ->surplus counted */
	u32 budget; /* pages this select may still look at; spent by vm_scan_more */
	enum vm_act act; /* out: what to do with the page; VM_EVICT at the start */
	u32 allowance, selects; /* the core's: budget of each select, how many may still come */
};

/* The zones of memory are numbered from 0: page_zone_index(page), and the bits of vm_scan.zones. */
#define VM_NR_ZONES 3

/* Required: insert remove select putback check. */
struct vm_policy {
	const char *name, *summary;
	u32 tick_ms; /* how often tick and surplus are asked; 0: every 100 ms. See vm_tick_after */
	const struct vm_param *params; /* shown as NAME.param; ends with a nameless one */

	/* Switching on and off; may sleep and allocate. init: 0 or -errno. */
	int (*init)(void);
	void (*exit)(void);
	/* An address space begins (empty) and ends (the policy owns none of its pages). */
	void (*mm_init)(struct mm_struct *mm);
	void (*mm_exit)(struct mm_struct *mm);

	/* The page is the policy's. mm: the process that faulted it in; NULL for PREFETCH and READ,
	 * and for CLAIM by read or write. from: what it was read from, by which its ghost is
	 * found; at CLAIM page_id_of(page), as both are then known. Store is 0: it is new. Called
	 * by the fault handler, by read and write, and where pages are read ahead. */
	void (*insert)(struct page *page, struct mm_struct *mm, enum vm_in how,
		       struct page_id from);
	/* A use that the core saw. Called by the fault handler. */
	void (*touch)(struct page *page, struct mm_struct *mm, enum vm_touch how);
	/* The page is the policy's no longer. */
	void (*remove)(struct page *page, enum vm_out why);
	/* The page stays the policy's; page_mm was `from` and is `to` now, NULL: no process. Called
	 * when a process is the first to map a page of a file or of shared memory, and when the
	 * owner gives up a page that stays in memory. page_referenced still tells of uses through
	 * the mapping that has gone.
	 *
	 * Without this hook the page and its data stay where they are. But a policy with mm_init
	 * may keep the page on a list of its process: it gets remove(MOVED), while page_mm is
	 * still `from`, and then insert(ADOPT). */
	void (*moved)(struct page *page, struct mm_struct *from, struct mm_struct *to);

	/* The next page to work on, off the lists, or NULL: none that it wants to give at this
	 * priority, or the budget is spent. Only a page that passed vm_eligible. At priority 0
	 * some page must be given to evict. Called by reclaim, until it has what it wants or
	 * select gives NULL. */
	struct page *(*select)(struct vm_scan *scan);
	/* Takes back what select gave. */
	void (*putback)(struct page *page, enum vm_put why);
	/* What select gave has left memory; it can be read again from `to`. */
	void (*evicted)(struct page *page, struct page_id to);
	/* The slot is free, or the page of the file is gone for good: drop any ghost of it. */
	void (*forget)(struct page_id id);

	/* How many pages of mm the core shall take at once (trim scans); asked every tick_ms. */
	u32 (*surplus)(struct mm_struct *mm);
	/* Denning's rule: may this process run now? Asked after its faults and after ticks. */
	bool (*may_run)(struct mm_struct *mm);
	/* Every tick_ms of machine time while anything runs; true: call again at once, but not for
	 * ever. */
	bool (*tick)(void);
	/* Pages held, or < 0 if the lists are broken. */
	int (*check)(void);
	/* Lines for /proc/vm/policy, by show_u64, whose numbers are in the telemetry, too, or by
	 * seq_printf. Lists are shown with their lengths, in the order of their heads. */
	void (*show)(struct seq_file *m);
};

/* Registers the policy: the build finds this line and puts the policy into a table. */
#define VM_POLICY(p)                                                                               \
	extern const struct vm_policy *const VM_ENTRY(policy, VM_FILE, p);                         \
	const struct vm_policy *const VM_ENTRY(policy, VM_FILE, p) = &(p)

/* The entry is named after file and policy, so that a copy of a file is a policy, too. */
#ifndef VM_FILE /* given by the build */
#define VM_FILE this
#endif
#define VM_ENTRY(kind, file, p) VM_ENTRY_NAME(kind, file, p)
#define VM_ENTRY_NAME(kind, file, p) vm_##kind##_in_##file##_##p

/* What a policy may call. */

/* Was the page used since the last call? Tests and clears the accessed bits of all mappings. */
bool page_referenced(struct page *page);
/* The same without clearing. */
bool page_young(struct page *page);
/* Would an eviction have to write it? */
bool page_dirty(struct page *page);
/* What kind of page? A file's; and that is mapped somewhere, and as text of a program. */
bool page_is_file(const struct page *page);
bool page_is_mapped(const struct page *page);
bool page_is_executable(const struct page *page);
/* Its identity; store is 0: it has none yet. */
struct page_id page_id_of(const struct page *page);
/* Virtual page number of an anonymous page, page of its file of another. */
u32 page_vpn(const struct page *page);
/* Makes the next use a minor fault, which becomes touch(VM_TOUCH_MINOR). */
void page_trap(struct page *page);
/* The address space that faulted it in last, NULL: not known or gone. */
struct mm_struct *page_mm(struct page *page);
/* Spends one page of the budget; false: there is none left. */
static inline bool vm_scan_more(struct vm_scan *scan)
{
	if (!scan->budget)
		return false;
	scan->budget--;
	return true;
}

/* May this page be given to this scan? Ask before choosing, not after. */
bool vm_eligible(const struct vm_scan *scan, const struct page *page);
/* Machine time, and the time the process itself has run in user mode; ns. */
u64 vm_now(void);
u64 mm_vtime(struct mm_struct *mm);
/* It waits for something else than a page or its admission: a pipe, a child, a moment. */
bool mm_sleeps(struct mm_struct *mm);
/* Resident pages of a process; reclaimable frames: those in use and those free for use. */
u32 mm_rss(struct mm_struct *mm);
u32 vm_frames(void);
/* Slots of the swap area: an upper bound on ghosts of anonymous pages. An upper bound on pages in
 * memory is max_pfn (mm/page.h): frames have the numbers 0 to max_pfn - 1. */
u32 vm_slots(void);
/* Pages of mm that are in the swap area shall be read when this hook is over, as far as there is memory
 * without evicting others; only from tick. They come as PREFETCH. */
void vm_prepage(struct mm_struct *mm);
/* Schedules the next tick after ms milliseconds (at least 1) instead of tick_ms. Call from tick. */
void vm_tick_after(u32 ms);
/* The next process after mm that has an address space, NULL: that was the last; from NULL: the
 * first. In order of age. */
struct mm_struct *vm_next_mm(struct mm_struct *mm);

/* What is to come, if the machine was started with it (lib/future.h); NULL: it was not. */
void *vm_future(void);

/* A policy's own data in a page and in an address space: all zero before insert and mm_init. */
#define POLICY_PAGE_FITS(type) STATIC_ASSERT(sizeof(type) <= sizeof(((struct page *)0)->policy))
#define POLICY_MM_FITS(type) STATIC_ASSERT(sizeof(type) <= POLICY_MM_SIZE)

static inline void *policy_page(struct page *page)
{
	return page->policy;
}

/* The page that holds this policy data. */
static inline struct page *policy_page_of(void *data)
{
	return container_of(data, struct page, policy);
}

/* Length of a list of pages, for check; < 0 when its links disagree. That finds a list without an
 * end, too: where it comes back to an entry, that entry has two predecessors. */
static inline int vm_list_length(const struct list_head *list)
{
	const struct list_head *at = list;
	int n = -1;

	do {
		const struct list_head *next = at->next;

		if (next->prev != at)
			return -1;
		at = next;
		n++;
	} while (at != list);
	return n;
}

#endif
