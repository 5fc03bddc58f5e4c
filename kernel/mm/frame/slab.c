/*
 * The slab allocator.
 *
 * Problem: the kernel allocates and frees many small objects of a few kinds. Frames are too large
 * for them, a general heap spends its time searching and merging, and initializing an object
 * often costs more than finding the memory for it.
 *
 * A cache holds objects of one kind. It takes blocks of 2^order frames, the slabs, and cuts each
 * into objects, which the constructor prepares once. Allocating takes a slab's first free object;
 * freeing returns it in its constructed state. Neither has to search.
 *
 * Slab:	empty -> partial -> full, and back, on the cache's list of that name. Allocation
 *		prefers partial slabs, so that empty ones stay empty until memory gets scarce and
 *		slab_reap frees them.
 * Descriptor:	a struct slab at the end of the block. For objects of an eighth of a page or more
 *		it would waste space, so their descriptors lie elsewhere, in memory from kmalloc.
 * Free objects: a list of indexes beside the objects, not links inside them, which would destroy
 *		the constructed state. The index of an object in use is marked, so that freeing twice,
 *		and freeing an address that is not an object, is detected.
 * Object to slab: every frame of a slab has PG_slab and points to its cache and slab.
 * Colour:	unused space in a slab shifts its first object, by one step more in each new
 *		slab, so that objects of different slabs do not compete for the same cache lines.
 *
 * With slab_poison, free objects of caches without a constructor are filled with POISON_FREE, which
 * is checked before they are allocated again; this finds writes after the free.
 *
 * Locks: none, but task context only. Growing may sleep, while all structures are consistent. Left
 * out: per-CPU magazines, NUMA.
 *
 * Source: Bonwick, The Slab Allocator: An Object-Caching Kernel Memory Allocator, USENIX Summer
 * 1994.
 */
#include "errno.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/string.h"
#include "observe/fail.h"
#include "slab_internal.h"

#define OFF_SLAB_SIZE (PAGE_SIZE / 8)
#define CACHE_LINE 32u
#define MAX_SLAB_ORDER 5 /* 128 KiB */
/* A better fit is worth a block of two contiguous frames, but not more, since larger blocks get rare. */
#define FIT_ORDER 1

#define POISON_FREE 0x6b
#define POISON_NEW 0x5a /* allocated, not yet initialized */

LIST_HEAD(slab_caches);
static struct kmem_cache cache_cache; /* of struct kmem_cache */
static bool booted;
static bool slab_poison;

PARAM_BOOL("slab_poison", slab_poison, "fill freed objects and check them (finds stale writes)",
	   AT_BOOT);

static u32 descriptor_size(u32 nr_objects)
{
	return ALIGN_UP(sizeof(struct slab) + nr_objects * sizeof(u16), sizeof(u32));
}

/* Number of objects that fit into a block of this order. */
static u32 objects_in(const struct kmem_cache *c, u32 order)
{
	u32 bytes = PAGE_SIZE << order, n;

	if (c->off_slab)
		return bytes / c->size;
	n = (bytes - sizeof(struct slab)) / (c->size + sizeof(u16));
	while (n * c->size + descriptor_size(n) > bytes)
		n--;
	return n;
}

static u32 left_over(const struct kmem_cache *c, u32 order, u32 n)
{
	return (PAGE_SIZE << order) - n * c->size - (c->off_slab ? 0 : descriptor_size(n));
}

/* Returns the order of the smallest block that holds an object and, if FIT_ORDER permits, wastes
 * less than an eighth. */
static int choose_order(struct kmem_cache *c)
{
	u32 order, n;

	for (order = 0; order <= MAX_SLAB_ORDER; order++) {
		n = objects_in(c, order);
		if (!n)
			continue;
		c->order = order;
		c->nr_objects = n;
		if (order >= FIT_ORDER || left_over(c, order, n) < (PAGE_SIZE << order) / 8)
			return 0;
	}
	return -EINVAL;
}

int kmem_cache_setup(struct kmem_cache *c, const char *name, size_t size, size_t align,
		     void (*ctor)(void *))
{
	ASSERT(!(align & (align - 1)) && align <= PAGE_SIZE);
	if (!size || size > PAGE_SIZE << MAX_SLAB_ORDER)
		return -EINVAL;
	align = MAX(align, sizeof(u32));
	memset(c, 0, sizeof(*c));
	c->name = name;
	c->ctor = ctor;
	c->object_size = size;
	c->size = ALIGN_UP(size, align);
	c->off_slab = c->size >= OFF_SLAB_SIZE;
	c->poison = slab_poison && !ctor;
	if (choose_order(c))
		return -EINVAL;
	c->colour_step = MAX(align, CACHE_LINE);
	c->nr_colours = left_over(c, c->order, c->nr_objects) / c->colour_step + 1;
	INIT_LIST_HEAD(&c->partial);
	INIT_LIST_HEAD(&c->full);
	INIT_LIST_HEAD(&c->empty);
	list_add_tail(&c->list, &slab_caches);
	return 0;
}

/* Binds the frames of a block to a slab, or, with s NULL, unbinds them. */
static void slab_bind_pages(struct kmem_cache *c, struct page *page, struct slab *s)
{
	u32 i;

	for (i = 0; i < 1u << c->order; i++, page++) {
		page->cache = s ? c : NULL;
		page->slab = s;
		if (s)
			page_set(page, PG_slab);
		else
			page_clear(page, PG_slab);
	}
}

static void slab_init_objects(struct kmem_cache *c, struct slab *s)
{
	u32 i;

	for (i = 0; i < c->nr_objects; i++) {
		s->next[i] = i + 1;
		if (c->ctor)
			c->ctor(slab_object(c, s, i));
		else if (c->poison)
			memset(slab_object(c, s, i), POISON_FREE, c->size);
	}
	s->next[c->nr_objects - 1] = SLAB_END;
}

static u32 cache_next_colour(struct kmem_cache *c)
{
	u32 colour = c->next_colour;

	c->next_colour = colour + 1 < c->nr_colours ? colour + 1 : 0;
	return colour * c->colour_step;
}

/* Adds an empty slab. Returns false if out of memory. May sleep with GFP_WAIT. */
static bool cache_grow(struct kmem_cache *c, gfp_t gfp)
{
	u32 desc_size = descriptor_size(c->nr_objects);
	struct page *page;
	struct slab *s;
	char *block;

	gfp &= ~(GFP_HIGH | GFP_ZERO);
	page = alloc_pages(gfp, c->order);
	if (!page)
		return false;
	block = page_address(page);
	s = c->off_slab ? kmalloc(desc_size, gfp)
			: (void *)(block + (PAGE_SIZE << c->order) - desc_size);
	if (!s) {
		free_pages(page, c->order);
		return false;
	}
	s->first = block + cache_next_colour(c);
	s->nr_used = 0;
	s->free = 0;
	slab_init_objects(c, s);
	slab_bind_pages(c, page, s);
	list_add(&s->list, &c->empty);
	c->nr_slabs++;
	return true;
}

static void slab_destroy(struct kmem_cache *c, struct slab *s)
{
	struct page *page = virt_page((void *)ALIGN_DOWN((uintptr_t)s->first, PAGE_SIZE));

	list_del(&s->list);
	c->nr_slabs--;
	slab_bind_pages(c, page, NULL);
	if (c->off_slab)
		kfree(s);
	free_pages(page, c->order);
}

/* Called when a free object is allocated: panics if it was written to since it was freed. */
static void poison_check(const struct kmem_cache *c, u8 *obj)
{
	u32 i;

	for (i = 0; i < c->size; i++)
		if (obj[i] != POISON_FREE)
			panic("%s: object %p was written to at byte %u after it was freed", c->name,
			      (void *)obj, i);
	memset(obj, POISON_NEW, c->size);
}

void *kmem_cache_alloc(struct kmem_cache *c, gfp_t gfp)
{
	struct slab *s;
	char *obj;
	u32 i;

	if (fail_alloc())
		return NULL;
	while (unlikely(list_empty(&c->partial))) {
		if (!list_empty(&c->empty))
			list_move(c->empty.next, &c->partial);
		else if (!cache_grow(c, gfp))
			return NULL;
	}
	s = list_first_entry(&c->partial, struct slab, list);
	i = s->free;
	s->free = s->next[i];
	s->next[i] = SLAB_IN_USE;
	s->nr_used++;
	c->nr_in_use++;
	if (s->free == SLAB_END)
		list_move(&s->list, &c->full);
	obj = slab_object(c, s, i);
	if (unlikely(c->poison))
		poison_check(c, (u8 *)obj);
	if (unlikely(gfp & GFP_ZERO))
		memset(obj, 0, c->object_size);
	return obj;
}

void kmem_cache_free(struct kmem_cache *c, void *obj)
{
	struct page *page = virt_page(obj);
	struct slab *s;
	u32 offset, i;

	ASSERT(page_test(page, PG_slab) && page->cache == c);
	s = page->slab;
	offset = (char *)obj - s->first;
	i = offset / c->size;
	ASSERT(i < c->nr_objects && offset % c->size == 0); /* fails if not an object's start */
	ASSERT(s->next[i] == SLAB_IN_USE); /* fails if freed twice */
	if (unlikely(c->poison))
		memset(obj, POISON_FREE, c->size);
	s->next[i] = s->free;
	c->nr_in_use--;
	if (--s->nr_used == 0)
		list_move(&s->list, &c->empty);
	else if (s->free == SLAB_END)
		list_move(&s->list, &c->partial);
	s->free = i;
}

u32 kmem_cache_shrink(struct kmem_cache *c)
{
	struct slab *s, *next;
	u32 nr_slabs = 0;

	list_for_each_entry_safe(s, next, &c->empty, list) {
		slab_destroy(c, s);
		nr_slabs++;
	}
	return nr_slabs << c->order;
}

/*
 * From the youngest cache to the oldest, because the oldest, kmalloc's, hold the descriptors of the
 * others.
 */
u32 slab_reap(void)
{
	struct kmem_cache *c;
	u32 frames = 0;

	list_for_each_entry_reverse(c, &slab_caches, list)
		frames += kmem_cache_shrink(c);
	return frames;
}

struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align,
				     void (*ctor)(void *))
{
	struct kmem_cache *c = kmem_cache_alloc(&cache_cache, GFP_KERNEL);
	int err = c ? kmem_cache_setup(c, name, size, align, ctor) : -ENOMEM;

	if (!err)
		return c;
	if (!booted)
		panic("cannot create the cache %s: error %d", name, err);
	if (c)
		kmem_cache_free(&cache_cache, c);
	return NULL;
}

int kmem_cache_destroy(struct kmem_cache *c)
{
	if (c->nr_in_use)
		return -EBUSY;
	kmem_cache_shrink(c);
	list_del(&c->list);
	kmem_cache_free(&cache_cache, c);
	return 0;
}

void slab_init(void)
{
	INIT_LIST_HEAD(&slab_caches);
	kmem_cache_setup(&cache_cache, "kmem_cache", sizeof(struct kmem_cache), 0, NULL);
	kmalloc_init();
}

void slab_boot_done(void)
{
	booted = true;
}
