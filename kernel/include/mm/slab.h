/*
 * The slab allocator: caches of objects of one kind (Bonwick, USENIX Summer 1994), and kmalloc on
 * top of it.
 */
#ifndef MM_SLAB_H
#define MM_SLAB_H

#include "mm/zone.h"
#include "types.h"

struct kmem_cache;
struct seq_file;

/*
 * A cache of objects of `size` bytes at multiples of `align` (0: word). ctor, if any, runs once
 * when an object's slab is made; a freed object must be handed back in that state. Panics at
 * boot, returns NULL later, when there is no memory. name is kept, not copied.
 */
struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align,
				     void (*ctor)(void *));
/* 0, or -EBUSY when objects are still in use. */
int kmem_cache_destroy(struct kmem_cache *c);
/* An object, or NULL. Sleeps only with GFP_WAIT. Not from interrupts. */
void *kmem_cache_alloc(struct kmem_cache *c, gfp_t gfp);
void kmem_cache_free(struct kmem_cache *c, void *obj);
/* Gives the pages of empty slabs back; returns frames freed. */
u32 kmem_cache_shrink(struct kmem_cache *c);
/* The same for every cache: called by reclaim. */
u32 slab_reap(void);

/* 32 bytes to 128 KiB, rounded up to a power of two; NULL: no memory or too large. */
void *kmalloc(size_t size, gfp_t gfp);
void *kzalloc(size_t size, gfp_t gfp);
void kfree(const void *p); /* NULL is allowed */

void slab_init(void);
/* The end of "at boot": kmem_cache_create no longer panics. */
void slab_boot_done(void);
/* Objects in use over all caches: for leak tests. */
u32 slab_objects_in_use(void);
/* Frames that the caches hold. */
u32 slab_nr_pages(void);
/* 0, or -EINVAL when a cache contradicts itself. */
int slab_check(void);
/* /proc/slabinfo, Linux's format version 2.1. */
void slab_show(struct seq_file *m);

#endif
