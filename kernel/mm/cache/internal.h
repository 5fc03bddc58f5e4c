/* What the files of mm/cache share among themselves. */
#ifndef CACHE_INTERNAL_H
#define CACHE_INTERNAL_H

#include "errno.h"
#include "fs/vfs.h"
#include "mm/cache.h"
#include "mm/page.h"
#include "mm/zone.h"

/* cache.c: pages by number. */

/* An entry of the tree is a page, or the shadow of one: when it was evicted, in evictions. */
static inline bool is_shadow(const void *item)
{
	return (uintptr_t)item & 1;
}

/* The page, without a reference; NULL: it is not in memory. */
static inline struct page *cache_find(const struct inode *inode, u32 index)
{
	void *item = radix_find(&inode->cache.pages, index);

	return likely(!is_shadow(item)) ? item : NULL;
}

/* The caller's reference goes to the cache. 0, -EEXIST, -ENOMEM; sleeps for memory as gfp says. */
int cache_add(struct inode *inode, u32 index, struct page *page, gfp_t gfp);
/* Takes the page out of the cache, whose reference goes; it is mapped nowhere and not being written. */
void cache_remove(struct page *page);

/* May files without a store have one page more? Those that they have now are the boot archive's. */
bool cache_may_grow(void);
void cache_boot_done(void);
/* Zeros behind the end of the file. */
void cache_clear_tail(struct inode *inode);

/* copy.c: between a page and the user, from or at off: 0 or -EFAULT. May sleep. */
int page_to_user(struct page *page, u32 off, char *user, u32 n);
int page_from_user(struct page *page, u32 off, const char *user, u32 n);
/* The same with the kernel's memory; never sleeps. */
void page_read(struct page *page, u32 off, void *to, u32 n);
void page_write(struct page *page, u32 off, const void *from, u32 n);
void page_zero(struct page *page, u32 off, u32 n);

#endif
