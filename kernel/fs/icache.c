/*
 * Inodes of file systems on devices, by number.
 *
 *	read from the device -> in use -> unused, last in the LRU list -> in use again
 *	                                                    memory is short: evicted
 *	                       in use, and its last name is removed -> freed, on the device too
 *
 * An inode is a single object in memory, so that all its users see the same size and the same
 * pages. A hash table finds it by (super block, number). The first task that asks for it reads it;
 * others wait meanwhile. An unused inode stays cached with its pages, since it is likely to be
 * needed again.
 *
 * The shrinker evicts from the old end of the list, but only clean inodes without pages in use,
 * since reclaim calls it and reclaim must not wait for a device. Directories with cached names stay
 * until these are gone (dcache.c).
 *
 * A changed inode is in its super block's list of dirty inodes until write_inode has written it to
 * its block.
 */
#include "internal.h"

#include "fs/gate.h"
#include "lib/assert.h"
#include "lib/string.h"
#include "mm/slab.h"

#define HASH_BITS 10
#define MULTIPLIER 0x9e3779b1u

static struct inode *table[1u << HASH_BITS];
static LIST_HEAD(unused); /* of struct inode.lru, oldest first */
static u32 nr_unused;
static WAIT_QUEUE(ready_wait); /* for an inode that is still INODE_NEW */

static struct inode **bucket(const struct super_block *sb, u32 ino)
{
	return &table[(ino * MULTIPLIER ^ (u32)sb * MULTIPLIER) >> (32 - HASH_BITS)];
}

static struct inode *find(const struct super_block *sb, u32 ino)
{
	struct inode *inode = *bucket(sb, ino);

	while (inode && (inode->ino != ino || inode->sb != sb))
		inode = inode->hash_next;
	return inode;
}

static void unhash(struct inode *inode)
{
	struct inode **at = bucket(inode->sb, inode->ino);

	for (; *at; at = &(*at)->hash_next) {
		if (*at != inode)
			continue;
		*at = inode->hash_next;
		return;
	}
}

/* Adds a reference to an inode that may have none. */
static void inode_grab(struct inode *inode)
{
	if (!inode->count++ && inode->state & INODE_STORED) {
		list_del(&inode->lru);
		nr_unused--;
	}
}

/* Waits until the inode has been read. Returns false if that failed; the reference is dropped
 * then. */
static bool wait_ready(struct inode *inode)
{
	wait_event(&ready_wait, !(inode->state & INODE_NEW));
	if (!(inode->state & INODE_BAD))
		return true;
	inode_put(inode);
	return false;
}

static struct inode *new_inode(struct super_block *sb, u32 ino)
{
	struct inode *inode = inode_alloc(sb, 0);

	if (!inode)
		return NULL;
	inode->ino = ino;
	inode->block_bits = sb->block_bits;
	inode->modified = inode->accessed = 0;
	inode->state = INODE_STORED | INODE_NEW;
	return inode;
}

struct inode *inode_get_cached(struct super_block *sb, u32 ino, bool *is_new)
{
	struct inode *inode, *made;

	*is_new = false;
	for (;;) {
		inode = find(sb, ino);
		if (inode) {
			inode_grab(inode);
			if (wait_ready(inode))
				return inode;
			continue;
		}
		made = new_inode(sb, ino); /* may sleep: check again */
		if (!made)
			return NULL;
		if (!find(sb, ino))
			break;
		inode_release(made);
	}
	made->hash_next = *bucket(sb, ino);
	*bucket(sb, ino) = made;
	*is_new = true;
	return made;
}

/* Shall the next read set atime? As in relatime: if none has since the last change, or for a
 * day. */
static bool read_is_due(const struct inode *inode)
{
	return inode->atime_ns <= inode->mtime_ns || inode->atime_ns <= inode->ctime_ns ||
	       inode->atime_ns + 86400 * 1000000000ull <= clock_realtime_ns();
}

void inode_ready(struct inode *inode)
{
	ASSERT(inode->state & INODE_NEW);
	inode->state &= ~(u32)INODE_NEW;
	if (read_is_due(inode))
		inode->state |= INODE_READ_DUE;
	wake_up(&ready_wait);
}

void inode_bad(struct inode *inode)
{
	unhash(inode);
	inode->state = (inode->state & ~(u32)INODE_NEW) | INODE_BAD;
	wake_up(&ready_wait);
	inode_put(inode);
}

void inode_mark_dirty(struct inode *inode)
{
	if (inode->state & (INODE_DIRTY | INODE_NEW | INODE_BAD | INODE_GOING))
		return;
	inode->state |= INODE_DIRTY;
	list_add_tail(&inode->dirty, &inode->sb->dirty);
}

static void mark_clean(struct inode *inode)
{
	if (!(inode->state & INODE_DIRTY))
		return;
	inode->state &= ~(u32)INODE_DIRTY;
	list_del(&inode->dirty);
}

/* Freeing an inode on the device is a change; freeing it in memory is not, and must not sleep. */
static void evict_stored(struct inode *inode)
{
	struct super_block *sb = inode->sb;

	if (!inode->nlink)
		log_begin(sb);
	sb->ops->evict_inode(inode);
	if (!inode->nlink)
		log_end(sb, 0);
}

void inode_evict(struct inode *inode)
{
	mark_clean(inode);
	inode->state |= INODE_GOING;
	if (!(inode->state & INODE_BAD))
		unhash(inode);
	cache_drop(inode);
	if (!(inode->state & INODE_BAD) && inode->sb->ops->evict_inode)
		evict_stored(inode);
	inode_release(inode);
}

void inode_unused(struct inode *inode)
{
	if (inode->nlink && !(inode->state & INODE_BAD)) {
		list_add_tail(&inode->lru, &unused);
		nr_unused++;
		return;
	}
	if (inode_is_dir(inode))
		dentry_drop_all(inode);
	inode_evict(inode);
}

static bool may_evict(const struct inode *inode)
{
	const struct page_cache *cache = &inode->cache;

	return !(inode->state & INODE_DIRTY) && list_empty(&inode->entries) && !cache->nr_dirty &&
	       !cache->nr_writeback;
}

/* Evicts an inode, or moves it to the young end of the list if that is impossible. */
static bool try_evict(struct inode *inode)
{
	list_del(&inode->lru);
	if (may_evict(inode) && (!inode->cache.nr_pages || cache_shrink(inode)) &&
	    !inode->cache.nr_pages) {
		nr_unused--;
		inode_evict(inode);
		return true;
	}
	list_add_tail(&inode->lru, &unused);
	return false;
}

u32 icache_nr_unused(void)
{
	return nr_unused;
}

u32 icache_shrink(u32 n)
{
	u32 gone = 0;

	for (n = MIN(n, nr_unused); n && nr_unused; n--)
		gone += try_evict(list_first_entry(&unused, struct inode, lru));
	return gone;
}

static struct inode *first_to_drop(const struct super_block *sb, bool dirty)
{
	struct inode *inode;

	list_for_each_entry(inode, &unused, lru)
		if (inode->sb == sb && (dirty || may_evict(inode)))
			return inode;
	return NULL;
}

static void drop(struct inode *inode)
{
	list_del(&inode->lru);
	nr_unused--;
	inode_evict(inode);
}

/* Waits for pages being read ahead; the list may change meanwhile. */
void icache_drop_unused(struct super_block *sb)
{
	struct inode *inode;

	while ((inode = first_to_drop(sb, false)))
		drop(inode);
}

static u32 nr_dirty(const struct inode *inode)
{
	return inode->cache.nr_dirty + (inode->state & INODE_DIRTY ? 1 : 0);
}

u32 icache_lose(struct super_block *sb)
{
	struct inode *inode;
	u32 lost = nr_dirty(sb->root);

	mark_clean(sb->root);
	while ((inode = first_to_drop(sb, true))) {
		lost += nr_dirty(inode);
		drop(inode);
	}
	return lost;
}

/* While this task waits for the block, the inode is neither dirty nor in it: so it is a change for a log. */
static int write_inode(struct inode *inode)
{
	int err = 0;

	if (!(inode->state & INODE_DIRTY))
		return 0;
	log_begin(inode->sb);
	mark_clean(inode);
	inode_settle_times(inode);
	if (inode->sb->ops->write_inode)
		err = inode->sb->ops->write_inode(inode);
	if (err)
		inode_mark_dirty(inode);
	log_end(inode->sb, 0);
	return err;
}

int inode_write_first(struct super_block *sb)
{
	struct inode *inode = list_first_entry(&sb->dirty, struct inode, dirty);
	int err;

	inode_grab(inode);
	err = write_inode(inode);
	inode_put(inode);
	return err;
}

int inode_sync(struct inode *inode, bool data)
{
	int err = 0, err2;

	if (!(inode->state & INODE_STORED))
		return 0;
	if (data)
		err = cache_sync(inode);
	err2 = write_inode(inode);
	return err ? err : err2;
}

int icache_sync(struct super_block *sb)
{
	struct inode *inode, *before = NULL;
	int err = 0, err2;

	list_for_each_entry(inode, &sb->inodes, on_sb) {
		if (inode->state & (INODE_NEW | INODE_BAD | INODE_GOING))
			continue;
		inode_grab(inode); /* keeps its place in the list while this task sleeps */
		if (before)
			inode_put(before);
		before = inode;
		err2 = inode_sync(inode, true);
		err = err ? err : err2;
	}
	if (before)
		inode_put(before);
	return err;
}
