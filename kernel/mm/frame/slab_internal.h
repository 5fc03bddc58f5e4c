/* What mm/frame/slab.c shares with mm/frame/kmalloc.c and mm/frame/slabinfo.c. */
#ifndef MM_SLAB_INTERNAL_H
#define MM_SLAB_INTERNAL_H

#include "mm/slab.h"

/* Values in slab.free and slab.next[] that are not indexes. */
#define SLAB_END 0xFFFFu    /* end of the list of free objects */
#define SLAB_IN_USE 0xFFFEu /* next[i] while object i is allocated */

/* A block of frames cut into objects. */
struct slab {
	struct list_head list; /* in one of the cache's three lists */
	char *first;           /* object 0: start of the block, plus the colour */
	u16 nr_used;
	u16 free;   /* index of the first free object, or SLAB_END */
	u16 next[]; /* next[i] of a free object i: the next free object */
};

struct kmem_cache {
	struct list_head partial; /* slabs with free objects and used ones */
	struct list_head full;
	struct list_head empty;   /* kept until they are reaped */
	u32 size;                 /* distance between two objects */
	u32 nr_objects;           /* per slab */
	u32 nr_in_use;            /* objects in all slabs */
	bool off_slab;            /* descriptors come from kmalloc */
	bool poison;
	u32 order;                /* log2 of the frames per slab */
	u32 object_size;          /* requested size */
	u32 colour_step, nr_colours, next_colour;
	u32 nr_slabs;
	void (*ctor)(void *);
	const char *name;
	struct list_head list; /* in slab_caches */
};

extern struct list_head slab_caches;

/* Lays out c and adds it to slab_caches. Returns -EINVAL if the objects are too large. */
int kmem_cache_setup(struct kmem_cache *c, const char *name, size_t size, size_t align,
		     void (*ctor)(void *));
/* Creates the caches behind kmalloc. */
void kmalloc_init(void);

static inline char *slab_object(const struct kmem_cache *c, const struct slab *s, u32 i)
{
	return s->first + i * c->size;
}

#endif
