/*
 * kmalloc: memory of any size up to 128 KiB, from one slab cache per power of two. An object is less
 * than twice as large as requested, or has 32 bytes, and begins at a multiple of 32 bytes; from 512
 * bytes on, at a multiple of its size or of a page. kfree finds the cache through struct page.
 */
#include "lib/assert.h"
#include "lib/string.h"
#include "slab_internal.h"

#define MIN_SHIFT 5
#define MAX_SHIFT 17
#define NR_SIZES (MAX_SHIFT - MIN_SHIFT + 1)

static struct kmem_cache *size_caches[NR_SIZES];
static const char *const size_names[NR_SIZES] = {
	"kmalloc-32",    "kmalloc-64",    "kmalloc-128",    "kmalloc-256",  "kmalloc-512",
	"kmalloc-1024",  "kmalloc-2048",  "kmalloc-4096",   "kmalloc-8192", "kmalloc-16384",
	"kmalloc-32768", "kmalloc-65536", "kmalloc-131072",
};

void kmalloc_init(void)
{
	u32 i;

	for (i = 0; i < NR_SIZES; i++)
		size_caches[i] = kmem_cache_create(size_names[i], 1u << (MIN_SHIFT + i),
						   1u << MIN_SHIFT, NULL);
}

/* ceil(log2(size)) - MIN_SHIFT. */
static inline u32 size_index(size_t size)
{
	if (size <= 1u << MIN_SHIFT)
		return 0;
	return 32 - __builtin_clz(size - 1) - MIN_SHIFT;
}

void *kmalloc(size_t size, gfp_t gfp)
{
	u32 i = size_index(size);

	return likely(i < NR_SIZES) ? kmem_cache_alloc(size_caches[i], gfp) : NULL;
}

void *kzalloc(size_t size, gfp_t gfp)
{
	void *p = kmalloc(size, gfp);

	return p ? memset(p, 0, size) : NULL;
}

void kfree(const void *p)
{
	struct page *page;

	if (!p)
		return;
	page = virt_page(p);
	ASSERT(page_test(page, PG_slab));
	kmem_cache_free(page->cache, (void *)p);
}
