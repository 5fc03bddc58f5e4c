/* Single free frames in front of the buddy allocator (mm/frame/pagelist.c). */
#ifndef MM_PAGELIST_H
#define MM_PAGELIST_H

#include "mm/zone.h"

struct page_list { /* of a zone */
	struct list_head pages; /* of struct page.lru; cache-hot frames first */
	u32 nr, high, batch;    /* frames: current, maximum, moved at once; high 0: no list */
};

extern struct page_list page_lists[MAX_ZONES];

/* What the allocator calls while lists are used. */
struct pagelist_ops {
	/* Like buddy_alloc and buddy_free, but single frames go through the list. cold: the frame has
	 * not been used recently. */
	struct page *(*alloc)(struct zone *z, u32 order);
	void (*free)(struct zone *z, struct page *page, u32 order, bool cold);
	/* Frees all frames on the lists to the buddy allocator. Returns false if there were none. */
	bool (*drain)(void);
	/* Sets the sizes of the lists from those of the zones, and empties the lists. */
	void (*resize)(void);
};

extern const struct pagelist_ops *pagelists; /* NULL: no lists are used (mm/frame/page_alloc.c) */

#endif
