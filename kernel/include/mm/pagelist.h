/* Single free frames in front of the buddy allocator (mm/frame/pagelist.c). */
#ifndef MM_PAGELIST_H
#define MM_PAGELIST_H

#include "mm/zone.h"

struct page_list { /* of a zone */
	struct list_head pages; /* of struct page.lru, the hot ones first */
	u32 nr, high, batch;    /* frames: there are, at most, moved at once; high 0: none */
};

extern struct page_list page_lists[MAX_ZONES];
extern u32 pagelist_fraction; /* 0: there are no lists */

/* As buddy_alloc and buddy_free, by way of the list if it is a single frame. cold: nobody has used it
 * lately. */
struct page *pagelist_alloc(struct zone *z, u32 order);
void pagelist_free(struct zone *z, struct page *page, u32 order, bool cold);
/* All of them go to the buddies; false: there were none. */
bool pagelists_drain(void);
/* Gives them the sizes that follow from the fraction and the zones; empties them. */
void pagelists_resize(void);

#endif
