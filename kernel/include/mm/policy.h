/*
 * The policy interface: which page to evict when memory is full. A policy includes this and lib/.
 *
 * Ownership. Every reclaimable page has exactly one owner: the policy (the page is on the policy's
 * lists) or the core. insert gives a page to the policy. select hands a page to the core, which
 * answers with exactly one putback or evicted, or frees the page if its last user exited meanwhile
 * (then no hook is called). touch and remove are called only for pages that the policy owns. Pages
 * locked in memory (mlock) are taken from the policy by remove(VM_OUT_PINNED).
 *
 * Hooks. All hooks except init and exit run one at a time and never from interrupts. They must not
 * sleep, allocate memory or do I/O. No hook is called from inside another hook. The core measures
 * their run time. If a policy breaks a rule, the core reports it by name and switches to fifo.
 * Examples: select returns a page that is not the policy's or not eligible, or no page at priority 0
 * although one is eligible; a list is inconsistent; a hook is too slow. All rules: mm/seam/rules.c.
 *
 * A page's identity is its page_id. An anonymous page gets one, a swap slot, before it is evicted
 * for the first time; a page of a file has one from the start. The ghost of an evicted page is its
 * page_id, valid until forget is called for it; mm/ghost.h stores ghosts.
 *
 * Pages of files. Mapped pages are observed as anonymous pages are: by their accessed bits. Other
 * pages are used only by the system calls read and write; each such use is a touch(VM_TOUCH_IO). A
 * clean page of a file is evicted without a write. Files that exist only in memory (ramfs) cannot
 * have their pages evicted, and no policy sees these pages.
 *
 * Shared memory (mmap, memfd, System V, tmpfs) is mapped, read and written like a file, and its pages
 * have the identity of file pages. But they are evicted to the swap area: page_is_file returns false.
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
	u32 store; /* 0: none yet; 1: the swap area; larger: a file, or shared memory */
	u32 index; /* the slot, or the number of the page in its file */
};
/* Stores from this number on are files on disks. Such a file has the same number in every run. */
#define FILE_STORES (1u << 25)

enum vm_in {
	VM_IN_FAULT,    /* a process faulted it in; that access does not count as a use */
	VM_IN_PREFETCH, /* read ahead; not requested by any process yet */
	VM_IN_CLAIM,    /* first request for a page that was read ahead; follows remove(MOVED) */
	VM_IN_READ, /* a page of a file, not mapped; read or write loaded it, that use is over */
	VM_IN_ADOPT, /* a resident page becomes the policy's: after a policy switch, munlock, ... */
};

enum vm_out {
	VM_OUT_FREED, /* the page was freed: its last user released it */
	VM_OUT_PINNED, /* the page was locked in memory (mlock) */
	VM_OUT_SWITCH, /* another policy takes over */
	VM_OUT_MOVED, /* insert follows: first request for a page read ahead, or see `moved` */
};

enum vm_touch {
	VM_TOUCH_MINOR, /* a minor fault: the page was resident (trapped, detached or read ahead) */
	VM_TOUCH_IO, /* read or write found it resident, or the kernel used it for a process */
	VM_TOUCH_WILLNEED, /* madvise(MADV_WILLNEED), or a guard's hint */
	VM_TOUCH_DONTNEED, /* madvise(MADV_DONTNEED), or a guard's hint */
};

enum vm_demote { VM_UNREFERENCE, VM_DEACTIVATE };

enum vm_act {
	VM_EVICT, /* unmap, write if dirty, free */
	VM_DETACH, /* unmap only; a minor fault can rescue it */
	VM_LAUNDER, /* write if dirty; the page stays mapped */
};

enum vm_put {
	VM_PUT_DONE, /* detached or laundered as asked */
	VM_PUT_USED, /* the page was used while it was being written */
	VM_PUT_BUSY, /* the core could not process the page just now */
	VM_PUT_NOSWAP, /* no swap slot is free */
	VM_PUT_IOERR, /* the write failed */
};

/* One reclaim pass: a number of calls of select, each with its own budget. */
struct vm_scan {
	struct mm_struct *mm; /* take only pages of this address space; NULL: of any */
	u32 zones; /* one bit per acceptable zone */
	int priority; /* 12 (calm) down to 0 (desperate), as in Linux */
	bool trim; /* take only surplus pages, as counted by ->surplus */
	u32 budget; /* pages that this select may still examine; vm_scan_more spends it */
	enum vm_act act; /* output: what to do with the page; VM_EVICT unless select changes it */
	u32 allowance, selects; /* for the core: each select's budget, selects left in this pass */
};

/* Memory zones are numbered from 0, in page_zone_index(page) and as the bits of vm_scan.zones. */
#define VM_NR_ZONES 3

/* Required hooks: insert, remove, select, putback, check. */
struct vm_policy {
	const char *name, *summary;
	u32 tick_ms; /* interval of tick and surplus; 0: 100 ms. See vm_tick_after */
	const struct vm_param *params; /* shown as NAME.param; the last entry has no name */

	/* Switch the policy on and off. May sleep and allocate. init returns 0 or -errno. */
	int (*init)(void);
	void (*exit)(void);
	/* An address space begins (empty) or ends (the policy no longer owns any of its pages). */
	void (*mm_init)(struct mm_struct *mm);
	void (*mm_exit)(struct mm_struct *mm);

	/* The policy now owns the page. mm: the process that faulted it in; NULL for PREFETCH and
	 * READ, and for CLAIM by read or write. from: the page_id it was read from, by which the
	 * policy finds its ghost; store is 0 if the page is new. At CLAIM it equals page_id_of(page),
	 * known by then. Called by the fault handler, by read and write, and by read-ahead. */
	void (*insert)(struct page *page, struct mm_struct *mm, enum vm_in how,
		       struct page_id from);
	/* A use of the page, or advice about it. Called on faults, by read, write and madvise. */
	void (*touch)(struct page *page, struct mm_struct *mm, enum vm_touch how);
	/* The policy no longer owns the page. */
	void (*remove)(struct page *page, enum vm_out why);
	/* The policy keeps the page; page_mm changes from `from` to `to` (NULL: no process). Called
	 * when the first process maps a page of a file or of shared memory, and when the owner
	 * releases a page that stays in memory. page_referenced still reports uses through the
	 * mapping that was removed.
	 *
	 * This hook is optional. Without it the page and its data stay where they are, unless the
	 * policy has mm_init: then it may keep the page on a list of that process. So the core
	 * calls remove(MOVED), while page_mm is still `from`, and then insert(ADOPT). */
	void (*moved)(struct page *page, struct mm_struct *from, struct mm_struct *to);

	/* Takes the next page to process off the policy's lists and returns it. Returns NULL if the
	 * policy gives no page at this priority, or if the budget is spent. The page must have
	 * passed vm_eligible. At priority 0 select must give some page to evict. Called by reclaim
	 * until it has enough frames or select returns NULL. */
	struct page *(*select)(struct vm_scan *scan);
	/* The core gives back a page that it got from select; the policy owns the page again. */
	void (*putback)(struct page *page, enum vm_put why);
	/* The page that select gave has been evicted; it can be read again from `to`. */
	void (*evicted)(struct page *page, struct page_id to);
	/* The swap slot is free, or the page of the file no longer exists: drop any ghost of it. */
	void (*forget)(struct page_id id);

	/* Returns the number of pages of mm to take at once (trim scans). Called every tick_ms. */
	u32 (*surplus)(struct mm_struct *mm);
	/* Denning's rule: may this process run now? Called after its faults and after ticks. */
	bool (*may_run)(struct mm_struct *mm);
	/* Called every tick_ms of machine time while a task runs or a process is held back. Returns
	 * true to be called again at once, which it must not do endlessly. */
	bool (*tick)(void);
	/* Returns the number of pages that the policy holds, or < 0 if its lists are broken. */
	int (*check)(void);
	/* Prints lines for /proc/vm/policy, with seq_printf or with show_u64, whose numbers are also
	 * in the telemetry. Lists are shown with their lengths, in the order of their heads. */
	void (*show)(struct seq_file *m);
	/* A guard's hint, for policies with Linux's lists: clear the page's referenced flag, or
	 * (DEACTIVATE), if it is clear, move an active page to the head of the inactive list. */
	void (*demote)(struct page *page, enum vm_demote how);
};

/* Registers the policy: the build finds this line and adds the policy to a table. */
#define VM_POLICY(p)                                                                               \
	extern const struct vm_policy *const VM_ENTRY(policy, VM_FILE, p);                         \
	const struct vm_policy *const VM_ENTRY(policy, VM_FILE, p) = &(p)

/* The entry is named after file and policy, so that a copy of a policy's file is a policy, too. */
#ifndef VM_FILE /* defined by the build */
#define VM_FILE this
#endif
#define VM_ENTRY(kind, file, p) VM_ENTRY_NAME(kind, file, p)
#define VM_ENTRY_NAME(kind, file, p) vm_##kind##_in_##file##_##p

/* What a policy may call. */

/* Was the page used since the last call? Tests and clears the accessed bits of all its mappings. */
bool page_referenced(struct page *page);
/* Was the page used since the last page_referenced? Tests the accessed bits without clearing them. */
bool page_young(struct page *page);
/* Must the page be written before it can be evicted? */
bool page_dirty(struct page *page);
/* Does the page belong to a file? Is it mapped anywhere? Is it mapped as program text? */
bool page_is_file(const struct page *page);
bool page_is_mapped(const struct page *page);
bool page_is_executable(const struct page *page);
/* The page's identity; its store is 0 if the page has none yet. */
struct page_id page_id_of(const struct page *page);
/* Virtual page number of an anonymous page; otherwise the number of the page in its file. */
u32 page_vpn(const struct page *page);
/* Makes the next use of the page a minor fault, which is reported as touch(VM_TOUCH_MINOR). */
void page_trap(struct page *page);
/* The address space that last faulted the page in; NULL: unknown, or it has ended. */
struct mm_struct *page_mm(struct page *page);
/* Spends one page of the budget. Returns false if the budget is spent. */
static inline bool vm_scan_more(struct vm_scan *scan)
{
	if (!scan->budget)
		return false;
	scan->budget--;
	return true;
}

/* May select give this page to this scan? Call it before choosing a page, not afterwards. */
bool vm_eligible(const struct vm_scan *scan, const struct page *page);
/* Machine time, and the time that the process itself has run in user mode; both in ns. */
u64 vm_now(void);
u64 mm_vtime(struct mm_struct *mm);
/* Is the process blocked on something other than paging or admission: a pipe, a child, a timer? */
bool mm_sleeps(struct mm_struct *mm);
/* Memory allocation demand of mm in pages: what the process has allocated, resident or not. */
u32 mm_demand(struct mm_struct *mm);
/* Resident pages of a process. Frames available to programs: in use or free for use. */
u32 mm_rss(struct mm_struct *mm);
u32 vm_frames(void);
/* Slots of the swap area: an upper bound on ghosts of anonymous pages. An upper bound on resident
 * pages is max_pfn (mm/page.h), since frames are numbered from 0 to max_pfn - 1. */
u32 vm_slots(void);
/* Requests that mm's pages in the swap area are read after this hook returns, at most PREPAGE_MOST and
 * as far as free memory allows without evicting other pages. Only from tick. Inserted as PREFETCH. */
#define PREPAGE_MOST 1024
void vm_prepage(struct mm_struct *mm);
/* Schedules the next tick after ms milliseconds (at least 1) instead of tick_ms. Only from tick. */
void vm_tick_after(u32 ms);
/* Returns the process with an address space that follows mm in order of age, or NULL if mm is the
 * last. With mm NULL it returns the first process. */
struct mm_struct *vm_next_mm(struct mm_struct *mm);

/* The future references, if the machine was started with them (lib/future.h); otherwise NULL. */
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

/* Returns the length of a list of pages, for check, or < 0 if its links disagree. That also finds a
 * list without an end: where it returns to an earlier entry, that entry has two predecessors. */
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
