/*
 * Address spaces: regions (vm_area_struct) in a red-black tree by address and in an ordered list,
 * and counters of each process. Changes to the regions hold mm->lock, which may sleep; a page fault
 * holds it too. Lock order: mm->lock, then page locks; the policy's hooks take no lock.
 */
#ifndef MM_MM_H
#define MM_MM_H

#include "arch/mmu.h"
#include "lib/interval.h"
#include "lib/list.h"
#include "mm/cache.h"
#include "mm/policy_mm.h"
#include "sched/acct.h"
#include "sched/wait.h"
#include "types.h"

struct inode;
struct page;
struct task_struct;
struct anon_family;
struct vm_area_struct;

#define VM_READ 1u
#define VM_WRITE 2u
#define VM_EXEC 4u
#define VM_SHARED 8u
#define VM_GROWSDOWN 16u /* the stack */
#define VM_LOCKED 32u    /* mlock */
#define VM_RAND_READ 64u /* madvise(MADV_RANDOM): no read-ahead */
#define VM_SEQ_READ 128u /* madvise(MADV_SEQUENTIAL): more read-ahead, for files */
#define VM_NOWRITE 256u  /* shared mapping of a file opened read-only: never writable */

#define VM_HUGE 512u     /* MAP_HUGETLB: whole pages of 4 MiB (mm/space/huge.c) */

#define STACK_LIMIT (8u << 20) /* RLIMIT_STACK of init */

/* How the pages of a region are obtained. */
struct vm_operations {
	const char *name;
	/* Stores the page for a not-present address, with a reference, in *page. *major: it was
	 * read from disk. Returns 0 or -errno. Caller holds mm->lock. May sleep. */
	int (*fault)(struct vm_area_struct *vma, u32 addr, struct page **page, bool *major);
};

struct vm_area_struct {
	struct mm_struct *mm;
	u32 start, end; /* page aligned, [start, end) */
	u32 flags;
	struct rb_node rb;
	struct list_head list;
	u32 pgoff;           /* page of the file that is mapped at start */
	struct inode *inode; /* with a reference; NULL: anonymous */
	struct interval mapping; /* with an inode: its pages, in its cache's regions */
	u32 moved; /* pages by which mremap has moved it upwards, modulo 2^32 (mm/rmap.h) */
	struct interval home; /* if moved: its pages before that, in its family's moved regions */
	struct readahead ahead;
	const struct vm_operations *ops;
};

/* Counters of a process. Those named "nr_" never decrease. Units are pages unless noted. */
struct mm_counters {
	u32 anon, file;    /* resident pages by kind: their sum is the RSS */
	u32 swapents;      /* page-table entries that name a swap slot */
	u32 ptes;          /* page tables */
	u32 total_vm, locked_vm;
	u32 demand;        /* MAD: pages of anonymous and of private writable regions */
	u32 max_rss;
	u64 nr_refault;
	u32 nap; /* pages accessed in the last sampling interval */
	u32 wss; /* pages used in the last tau of virtual time, as of the last sample */
	u32 fresh; /* of nap, the anonymous pages that were not in the working set */
	u32 nr_phases; /* changes of locality */
	bool changing; /* the last sampling interval belongs to such a change */
	u64 sampled_cycles; /* cycles its task had run when nap and wss were sampled */
};

struct mm_struct {
	pgd_t *pgd;
	struct rb_root vmas;
	struct list_head vma_list; /* by address */
	struct vm_area_struct *last_vma; /* the region that vma_find returned last */
	u32 map_count;
	struct mutex lock;
	u32 start_code, end_code, start_data, end_data, start_brk, brk, start_stack;
	u32 arg_start, arg_end, env_end; /* the environment follows the arguments */
	u32 def_flags; /* VM_LOCKED after mlockall(MCL_FUTURE) */
	u32 hole_hint; /* mmap searches for free addresses from here downwards */
	bool legacy_layout; /* mmap searches upwards from USER_MMAP_LEGACY instead */

	struct anon_family *family; /* mm/rmap.h */
	struct list_head family_node;
	struct list_head all; /* in mm_list */
	u32 id; /* increases along mm_list */
	struct task_struct *task; /* the user of this address space; NULL: not yet, or no longer */
	u64 vtime_ns; /* virtual time of the task when it left by execve */
	struct mm_counters count;
	u64 policy[POLICY_MM_SIZE / 8]; /* the policy's own data; see policy_mm() */
	u64 guard[MAX_GUARDS][GUARD_MM_SIZE / 8]; /* the guards' own data; see guard_mm() */
};

STATIC_ASSERT(offsetof(struct mm_struct, pgd) == 0); /* tools/plugin/trace.c reads it */

extern u32 max_map_count; /* maximum number of regions of an address space */

/* Pages committed, and the limit on them with overcommit_memory=2 (mm/space/overcommit.c). */
extern u32 vm_committed;
u32 vm_commit_limit(void);

extern u32 huge_nr_pages; /* frames of all huge pages (mm/space/huge.c) */

extern struct list_head mm_list; /* every user address space */
#define for_each_mm(m) list_for_each_entry(m, &mm_list, all)

struct mm_struct *mm_after(u32 id); /* the first mm with a larger id, or NULL */

/* Returns an empty address space, or NULL if out of memory. May sleep. mm_attach sets its task. */
struct mm_struct *mm_create(void);
/* Returns a copy-on-write copy of current's address space for child, or NULL if out of memory. */
struct mm_struct *mm_fork(struct task_struct *child);
/* Makes mm the address space of t (t->mm). If t is current, the CPU switches to it, too. */
void mm_attach(struct task_struct *t, struct mm_struct *mm);
/* Unmaps everything, informs the policy and frees mm. If the CPU still uses mm, switches it to the
 * kernel's page directory first. */
void mm_destroy(struct mm_struct *mm);

/* mmap for user programs (addr may be 0) and for execve (fixed). Returns the address, or -errno.
 * prot and flags are those of the system call. Takes mm->lock. */
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 0x10
#define MAP_ANONYMOUS 0x20
#define MAP_GROWSDOWN 0x100
#define MAP_LOCKED 0x2000
#define MAP_POPULATE 0x8000
#define MAP_HUGETLB 0x40000
#define MAP_HUGE_SIZE(flags) ((flags) >> 26 & 31) /* log2 of the page's bytes; 0: the default */
#define MAP_FIXED_NOREPLACE 0x100000
#define MAP_NOWRITE 0x80000000u /* not a flag of the system call: sets VM_NOWRITE */
long do_mmap(struct mm_struct *mm, u32 addr, u32 len, u32 prot, u32 flags, struct inode *inode,
	     u32 pgoff);
long do_munmap(struct mm_struct *mm, u32 addr, u32 len);
long do_mprotect(struct mm_struct *mm, u32 addr, u32 len, u32 prot);
/* Returns the new break, or the old one if the new one cannot be set, as in Linux. */
long do_brk(struct mm_struct *mm, u32 addr);
long do_madvise(struct mm_struct *mm, u32 addr, u32 len, int advice);
long do_mremap(struct mm_struct *mm, u32 addr, u32 old_len, u32 new_len, u32 flags, u32 new_addr);
long do_mlock(struct mm_struct *mm, u32 addr, u32 len, bool lock);
long do_mlockall(struct mm_struct *mm, bool current_pages, bool future_pages);

/* Returns the region that contains addr, or the next one above it, or NULL. Caller holds mm->lock. */
struct vm_area_struct *vma_find(struct mm_struct *mm, u32 addr);

static inline u32 mm_rss_pages(const struct mm_struct *mm)
{
	return mm->count.anon + mm->count.file;
}

/* For execve: copies data into a new address space that is not running yet. Returns 0 or -errno. */
int mm_write(struct mm_struct *mm, u32 addr, const void *from, size_t n);

/* mm/space/filemap.c: empty entries that are not found through a page. They never sleep and need no mm->lock.
 * The first: entries of private regions, copies included, and of holes, from page `first` of the file on. */
void filemap_unmap_rest(struct inode *inode, u32 first);
/* Unmaps a hole that is mapped for reading, because a page is added in its place. */
void filemap_unmap_hole(struct inode *inode, u32 index);

/* mm/space/unuse.c: maps, in all address spaces, the pages that are in the swap cache for slots
 * `first` to `end` - 1, and frees those slots. May sleep between two address spaces. */
void unuse_slots(u32 first, u32 end);

/* mm/space/premap.c: maps the page of a file at addr, if it is resident, without a fault. Returns 0 or
 * -ENOMEM. May sleep. */
int mm_map_cached(struct mm_struct *mm, u32 addr);

void mm_init_caches(void);

#endif
