/*
 * The slab allocator: caches of objects of one kind (Bonwick, USENIX Summer 1994), and kmalloc,
 * which is built on it.
 */
#ifndef MM_SLAB_H
#define MM_SLAB_H

#include "mm/zone.h"
#include "types.h"

struct kmem_cache;
struct seq_file;

/*
 * Creates a cache of objects of `size` bytes, aligned to `align` (0: word). ctor, if not NULL, runs
 * once for each object when its slab is made; a freed object must be returned in that state. If out
 * of memory, panics at boot and returns NULL later. name is kept, not copied.
 */
struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align,
				     void (*ctor)(void *));
/* Returns 0, or -EBUSY if objects are still in use. */
int kmem_cache_destroy(struct kmem_cache *c);
/* Returns an object, or NULL if out of memory. Sleeps only with GFP_WAIT. Not from interrupts. */
void *kmem_cache_alloc(struct kmem_cache *c, gfp_t gfp);
void kmem_cache_free(struct kmem_cache *c, void *obj);
/* Frees the pages of empty slabs. Returns the number of frames freed. */
u32 kmem_cache_shrink(struct kmem_cache *c);
/* Shrinks every cache; called by reclaim. Returns the number of frames freed. */
u32 slab_reap(void);

/* Sizes up to 128 KiB are rounded up to a power of two, at least 32. NULL if out of memory or too large. */
void *kmalloc(size_t size, gfp_t gfp);
void *kzalloc(size_t size, gfp_t gfp);
void kfree(const void *p); /* NULL is allowed */

void slab_init(void);
/* Ends the boot phase: from now on kmem_cache_create no longer panics. */
void slab_boot_done(void);
/* Objects in use in all caches, for leak tests. */
u32 slab_objects_in_use(void);
/* Number of frames that the caches hold. */
u32 slab_nr_pages(void);
/* Returns 0, or -EINVAL if a cache is inconsistent. */
int slab_check(void);
/* /proc/slabinfo, Linux's format version 2.1. */
void slab_show(struct seq_file *m);

#endif
