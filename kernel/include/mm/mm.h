/*
 * Address spaces: regions (vm_area_struct) in a red-black tree by address and in an ordered list,
 * and what is counted per process. Changes to the regions hold mm->lock, which may sleep; a
 * fault holds it too. Lock order: mm->lock, then page locks; the policy's hooks take none.
 */
#ifndef MM_MM_H
#define MM_MM_H

#include "arch/mmu.h"
#include "lib/list.h"
#include "lib/rbtree.h"
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
#define VM_SEQ_READ 128u /* madvise(MADV_SEQUENTIAL): more read-ahead, of files */
#define VM_NOWRITE 256u  /* shared, of a file that is open for reading only: never writable */

#define STACK_LIMIT (8u << 20) /* RLIMIT_STACK */

/* Where a page of a region comes from. */
struct vm_operations {
	const char *name;
	/* The page for a not-present address, with a reference, in *page; *major: it was read.
	 * 0 or -errno. Holds mm->lock; may sleep. */
	int (*fault)(struct vm_area_struct *vma, u32 addr, struct page **page, bool *major);
};

struct vm_area_struct {
	struct mm_struct *mm;
	u32 start, end; /* page aligned, [start, end) */
	u32 flags;
	struct rb_node rb;
	struct list_head list;
	u32 pgoff;           /* page of the file at start */
	struct inode *inode; /* with a reference; NULL: anonymous */
	struct list_head mapping; /* with an inode: in its cache's regions */
	struct readahead ahead;
	const struct vm_operations *ops;
};

/* Counters of a process; "nr_" never go down. Pages unless said. */
struct mm_counters {
	u32 anon, file;    /* resident, by kind: their sum is RSS */
	u32 swapents;      /* entries that name a swap slot */
	u32 ptes;          /* page tables */
	u32 total_vm, locked_vm;
	u32 demand;        /* MAD: pages of anonymous and of private writable regions */
	u32 max_rss;
	u64 nr_refault;
	u32 nap; /* pages accessed in the last sampling interval */
	u32 wss; /* pages used in the last tau of virtual time, at the last sample */
	u64 sampled_cycles; /* that its task had run when nap and wss were counted */
};

struct mm_struct {
	pgd_t *pgd;
	struct rb_root vmas;
	struct list_head vma_list; /* by address */
	struct vm_area_struct *last_vma; /* the one found last */
	u32 map_count;
	struct mutex lock;
	u32 start_code, end_code, start_data, end_data, start_brk, brk, start_stack;
	u32 arg_start, arg_end;
	u32 def_flags; /* VM_LOCKED after mlockall(MCL_FUTURE) */
	u32 hole_hint; /* mmap looks for room from here down */

	struct anon_family *family; /* mm/rmap.h */
	struct list_head family_node;
	struct list_head all; /* in mm_list */
	u32 id; /* grows along mm_list */
	struct task_struct *task; /* whose address space it is; NULL: not yet, or no longer */
	u64 vtime_ns; /* of the task when it left for another program */
	struct mm_counters count;
	u64 policy[POLICY_MM_SIZE / 8]; /* the policy's own data; policy_mm() */
	u64 guard[MAX_GUARDS][GUARD_MM_SIZE / 8]; /* the guards'; guard_mm() */
};

STATIC_ASSERT(offsetof(struct mm_struct, pgd) == 0); /* tools/plugin/trace.c reads it */

extern u32 max_map_count; /* regions that an address space may have */

/* Pages that have been promised, and how many may be with overcommit_memory=2 (mm/space/overcommit.c). */
extern u32 vm_committed;
u32 vm_commit_limit(void);

extern struct list_head mm_list; /* every user address space */
#define for_each_mm(m) list_for_each_entry(m, &mm_list, all)

struct mm_struct *mm_after(u32 id); /* the first with a larger id, or NULL */

/* An empty address space, or NULL. May sleep. Its task is set by mm_attach. */
struct mm_struct *mm_create(void);
/* A copy-on-write copy of current's address space for child, or NULL. */
struct mm_struct *mm_fork(struct task_struct *child);
/* Makes mm t's address space (t->mm); with t == current also the CPU's. */
void mm_attach(struct task_struct *t, struct mm_struct *mm);
/* Unmaps everything, tells the policy, frees. The CPU must not be using it any more, or it is
 * switched to the kernel's directory first. */
void mm_destroy(struct mm_struct *mm);

/* mmap for user (addr may be 0) and for execve (fixed): the address, or -errno. prot and flags as
 * the system call's. Takes mm->lock. */
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
#define MAP_FIXED_NOREPLACE 0x100000
#define MAP_NOWRITE 0x80000000u /* not the system call's: VM_NOWRITE */
long do_mmap(struct mm_struct *mm, u32 addr, u32 len, u32 prot, u32 flags, struct inode *inode,
	     u32 pgoff);
long do_munmap(struct mm_struct *mm, u32 addr, u32 len);
long do_mprotect(struct mm_struct *mm, u32 addr, u32 len, u32 prot);
/* The new break; the old one when it cannot be had, as Linux. */
long do_brk(struct mm_struct *mm, u32 addr);
long do_madvise(struct mm_struct *mm, u32 addr, u32 len, int advice);
long do_mremap(struct mm_struct *mm, u32 addr, u32 old_len, u32 new_len, u32 flags, u32 new_addr);
long do_mlock(struct mm_struct *mm, u32 addr, u32 len, bool lock);
long do_mlockall(struct mm_struct *mm, bool current_pages, bool future_pages);

/* The region that contains addr, or the next above it, or NULL. Holds mm->lock. */
struct vm_area_struct *vma_find(struct mm_struct *mm, u32 addr);

static inline u32 mm_rss_pages(const struct mm_struct *mm)
{
	return mm->count.anon + mm->count.file;
}

/* Copies into a (not running) new address space at exec: 0 or -errno; faults pages in. */
int mm_write(struct mm_struct *mm, u32 addr, const void *from, size_t n);

void mm_init_caches(void);

#endif
