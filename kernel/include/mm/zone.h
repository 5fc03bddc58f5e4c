/*
 * Zones of physical memory and the binary buddy allocator.
 *
 * DMA lies below 16 MiB, NORMAL from there to lowmem= (at most 896 MiB), HIGHMEM above. Each zone
 * keeps free blocks of 2^0 .. 2^10 frames and three watermarks in pages. kswapd is woken when free
 * memory falls below low and works until it reaches high; below min only reclaim itself may allocate.
 */
#ifndef MM_ZONE_H
#define MM_ZONE_H

#include "lib/list.h"
#include "mm/page.h"
#include "types.h"

#define MAX_ORDER 11 /* orders 0 .. 10 */

enum zone_index { ZONE_DMA, ZONE_NORMAL, ZONE_HIGHMEM, MAX_ZONES };
#define ZONES_ALL (1u << ZONE_DMA | 1u << ZONE_NORMAL | 1u << ZONE_HIGHMEM)
#define ZONES_LOWMEM (1u << ZONE_DMA | 1u << ZONE_NORMAL) /* directly addressable by the kernel */
enum { WMARK_MIN, WMARK_LOW, WMARK_HIGH, NR_WMARKS };

struct free_area {
	struct list_head list; /* of struct page.lru: first frames of free blocks */
	u32 nr_free;           /* number of blocks */
};

struct zone {
	const char *name;
	u32 start_pfn, end_pfn; /* spanned frames */
	u32 present;            /* frames that exist */
	u32 managed;            /* frames given to the buddy allocator */
	u32 nr_free;            /* free frames */
	u32 watermark[NR_WMARKS];
	u32 keep[NR_WMARKS * MAX_ZONES]; /* frames that must stay free; see zone_keep */
	struct free_area free_area[MAX_ORDER];
	u32 nr_owned; /* pages of this zone that the policy owns */
	u64 nr_alloc, nr_freed, nr_scanned, nr_reclaimed;
} __attribute__((aligned(256))); /* a power of two: page_zone is a shift */

extern struct zone zones[MAX_ZONES];

static inline struct zone *page_zone(const struct page *p)
{
	return &zones[page_zone_index(p)];
}

/* Index into keep[]: for an allocation that may use zones up to `highest` and go down to `mark`. */
static inline int zone_keep(int mark, int highest)
{
	return mark * MAX_ZONES + highest;
}

/* Free frames that programs may allocate without waking kswapd. */
static inline u32 zone_spare(const struct zone *z)
{
	u32 keep = z->keep[zone_keep(WMARK_LOW, ZONE_HIGHMEM)];

	return z->nr_free > keep ? z->nr_free - keep : 0;
}

/* Pages that the policy owns, in all zones. */
static inline u32 zones_nr_owned(void)
{
	return zones[ZONE_DMA].nr_owned + zones[ZONE_NORMAL].nr_owned +
	       zones[ZONE_HIGHMEM].nr_owned;
}

/* The buddy allocator alone: no watermarks, no waiting; mm/frame/buddy.c. */
void buddy_init(struct zone *z);
/* Returns the first frame of a block of 2^order frames, or NULL. */
struct page *buddy_alloc(struct zone *z, u32 order);
/* Frees a block and merges it with its free buddies. */
void buddy_free(struct zone *z, struct page *page, u32 order);
/* Returns 0, or -EINVAL if the lists are inconsistent: counts, flags, alignment, unmerged buddies. */
int buddy_check(const struct zone *z);

/* What an allocation may do, as flags. */
typedef u32 gfp_t;
#define GFP_WAIT 1u /* may sleep and reclaim */
#define GFP_HIGH 2u /* may use HIGHMEM */
#define GFP_DMA 4u /* only DMA */
#define GFP_RESERVE 8u /* may go below min (for reclaim itself, and dying tasks) */
#define GFP_ZERO 16u /* the frames are zeroed */
#define GFP_NORETRY 32u /* fail rather than kill a process */
#define GFP_KERNEL GFP_WAIT
#define GFP_ATOMIC 0u
#define GFP_USER (GFP_WAIT | GFP_HIGH)

/* Returns 2^order frames with count 1, or NULL if out of memory. May sleep with GFP_WAIT. */
struct page *alloc_pages(gfp_t gfp, u32 order);
void free_pages(struct page *page, u32 order);

static inline struct page *alloc_page(gfp_t gfp)
{
	return alloc_pages(gfp, 0);
}

/* Returns the low-memory address of 2^order frames, or NULL. */
void *get_free_pages(gfp_t gfp, u32 order);
void free_pages_at(void *va, u32 order);

u32 nr_free_pages(void); /* free frames in all zones */
u32 nr_managed_pages(void); /* frames given to the allocator */
/* Recomputes watermarks and reserves from min_free_kbytes and lowmem_reserve_ratio. */
void zones_set_watermarks(void);
extern u32 min_free_kbytes, lowmem_reserve_ratio[MAX_ZONES];
#define MAX_MIN_FREE 65536u /* KiB */

#endif
