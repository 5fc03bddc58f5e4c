/*
 * struct page: one per frame of managed memory, in the array mem_map.
 *
 * count     references: one per page-table entry that maps the page, one for the swap cache or the page
 *           cache, one per user that works on it (reclaim, I/O). When it reaches 0 the frame is freed.
 * mapcount  the number of page-table entries that map the page.
 *
 * An anonymous page records where it is mapped as (family, index): at virtual page number `index`
 * of some address spaces of a family, unless mremap has moved it there (mm/rmap.h). A page in the swap cache also records its slot.
 * All fields are used in task context only, unless marked "irq".
 */
#ifndef MM_PAGE_H
#define MM_PAGE_H

#include "arch/bits.h"
#include "arch/mmu.h"
#include "lib/list.h"
#include "types.h"

struct kmem_cache;
struct slab;
struct anon_family;
struct mm_struct;
struct inode;

enum page_flags {
	PG_reserved,   /* never managed: kernel image, holes */
	PG_buddy,      /* first frame of a free block, whose order is in .order */
	PG_slab,       /* belongs to a slab */
	PG_locked,     /* irq: a read is under way; its completion clears the flag */
	PG_uptodate,   /* irq: holds valid data */
	PG_error,      /* irq: the read failed */
	PG_writeback,  /* irq: a write is under way */
	PG_dirty,      /* differs from its store */
	PG_anon,       /* anonymous memory */
	PG_swapcache,  /* in the swap cache, at .slot */
	PG_mlocked,    /* locked in memory: never given to the policy */
	PG_owned,      /* the policy owns it (mm/policy.h) */
	PG_isolated,   /* the core got it from select */
	PG_laundering, /* the core writes it, but it stays resident */
	PG_stale,      /* isolated under a policy that has since been replaced */
	PG_young,      /* used without an accessed bit; the policy has not asked yet */
	PG_sampled,    /* used, but the sampler has not counted it yet */
	PG_filecache,  /* belongs to a file with a store: the policy sees it */
	PG_readahead,  /* read ahead, not yet requested by any process */
	PG_reclaim,    /* irq: reclaim is waiting for the write to end */
	PG_shmem,      /* with PG_filecache: shared memory, whose store is the swap area */
	PG_placed,     /* of a file with a store: all its blocks are allocated there */
	PG_capped,     /* of a file on a disk: counts against the cap on frames */
	PG_zone_shift = 28, /* the zone's index, two bits */
};

struct page {
	u32 flags;
	u32 count;
	u32 mapcount;
	struct list_head lru; /* in the free list, slab list or core lists; not for policies */
	union {
		struct { /* anonymous */
			struct anon_family *family;
			u32 index; /* virtual page number */
			u32 slot;  /* swap slot, with PG_swapcache */
			struct mm_struct *owner; /* faulted it in; NULL: unknown or ended */
			u32 used_vt; /* virtual time (ms) at which the sampler last saw a use */
		};
		struct { /* slab */
			struct kmem_cache *cache;
			struct slab *slab;
		};
		struct { /* page cache; index and owner have the same offsets as above */
			struct inode *inode; /* NULL: truncated away */
			u32 file_index;
			/* shared memory has .slot here, with PG_swapcache */
			u8 sectors; /* dirty sectors, one bit each */
			u8 writing; /* sectors that are being written */
			u8 nr_io;   /* irq: writes under way, plus 1 while they are being sent */
		};
		u32 order; /* PG_buddy; or first frame of an allocated slab block */
	};
	u32 policy[6]; /* the policy's own data; see policy_page() */
};

STATIC_ASSERT(sizeof(struct page) == 64);
STATIC_ASSERT(offsetof(struct page, index) == offsetof(struct page, file_index));
STATIC_ASSERT(offsetof(struct page, nr_io) < offsetof(struct page, owner));
/* tools/plugin/trace.c and frames.c read these fields */
STATIC_ASSERT(offsetof(struct page, index) == 24 && offsetof(struct page, owner) == 32);
STATIC_ASSERT(offsetof(struct page, flags) == 0 && offsetof(struct page, count) == 4);
STATIC_ASSERT(PG_reserved == 0 && PG_slab == 2 && PG_anon == 8 && PG_filecache == 17);

extern struct page *mem_map; /* indexed by frame number */
extern u32 max_pfn; /* frames 0 .. max_pfn - 1 have a struct page */

static inline bool page_test(const struct page *p, enum page_flags f)
{
	return p->flags >> f & 1;
}

/* Plain read-modify-write: call with interrupts off where an "irq" flag may change at the same time. */
static inline void page_set(struct page *p, enum page_flags f)
{
	bits_set(&p->flags, 1u << f);
}

static inline void page_clear(struct page *p, enum page_flags f)
{
	bits_clear(&p->flags, 1u << f);
}

static inline bool page_test_and_clear(struct page *p, enum page_flags f)
{
	bool old = page_test(p, f);

	if (old)
		page_clear(p, f);
	return old;
}

static inline u32 page_pfn(const struct page *p)
{
	return p - mem_map;
}

static inline struct page *pfn_page(u32 pfn)
{
	return mem_map + pfn;
}

/* The direct-map address of a page; only for pages of low-memory zones. */
static inline void *page_address(const struct page *p)
{
	return phys_to_virt(page_pfn(p) << PAGE_SHIFT);
}

/* The page at a direct-map address. */
static inline struct page *virt_page(const void *va)
{
	return pfn_page(virt_to_phys(va) >> PAGE_SHIFT);
}

static inline void *kmap(struct page *p)
{
	return kmap_pfn(page_pfn(p));
}

static inline u32 page_zone_index(const struct page *p)
{
	return p->flags >> PG_zone_shift & 3;
}

/* Adds a reference. page_put (mm/frames.h) drops one. */
static inline void page_get(struct page *p)
{
	p->count++;
}

/* Number of references that keep the page in memory: of entries that map it, of the swap cache, and of its
 * file. Any more are those of users who work on it now. */
static inline u32 page_keepers(const struct page *p)
{
	return p->mapcount + page_test(p, PG_swapcache) + page_test(p, PG_filecache);
}

/* Sleeps until the read in progress (PG_locked) has ended. */
void page_wait_unlocked(struct page *p);

/* Locks the page; sleeps while another task holds the lock. */
void page_lock(struct page *p);
/* Sleeps until the write in progress (PG_writeback) has ended; its completion must call page_wake. */
void page_wait_writeback(struct page *p);
void page_wake(struct page *p);

/* Completion of a read, and of a write. Called in irq context. */
void page_unlock(struct page *p);
void page_end_writeback(struct page *p);

/* The frame of zeros: mapped read-only for every anonymous page that has only been read. */
extern struct page *zero_page;
void page_init(void);

static inline bool is_zero_page(const struct page *p)
{
	return p == zero_page;
}

#endif
