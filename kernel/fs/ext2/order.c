/*
 * The order of ext2's writes: what must be on the medium before what.
 *
 * System calls change blocks in memory. They reach the disk later, and a disk with a cache brings
 * them to the medium in any order; each sector is written entirely or not at all. Only a flush
 * (ext2_flush) is a border: all that is dirty before it is on the medium after it. When the power
 * fails, the medium holds all that the last flush covered, and any part of what was changed since. So
 * "A before B" holds on the medium only if A and B are in one sector, or a flush lies between
 * A and the change in memory that makes B. A flush costs a disk some milliseconds, so the rules
 * ask for one only where nothing else helps.
 *
 * The rules are those of soft updates (Ganger and Patt, Metadata Update Performance in File Systems,
 * 1994), which orders three things:
 *
 *   1. Never point to an object before it is initialised. An entry names an inode, so the inode is
 *      in its block, in memory, before the entry is: then no flush covers the entry alone
 *      (ext2_before_name). This needs no flush. If the power fails within the next flush, e2fsck
 *      may find the entry alone and removes it: that name was not promised yet. But a file that
 *      grows may have been promised. If its inode points to a new block of addresses, and the
 *      medium has that block's former content, which may be data, then e2fsck finds many wrong
 *      addresses and clears the inode. So the block of addresses is flushed first, unless the file
 *      is so new that no flush has covered its name (ext2_before_addresses).
 *   2. Never reuse a resource before all pointers to it are gone from the medium. Suppose that a file is
 *      truncated, another file gets its blocks, and its data are written at once; then the power
 *      fails. On the medium both files now have these blocks, and the first file's blocks hold the
 *      second file's data, even where its addresses were, so that e2fsck may delete the whole file,
 *      with the part that should stay. Likewise with an inode number: a removed name would lead to
 *      another file. So for a bitmap in which something is freed, a copy of its former state is
 *      kept. Allocations must be free in that copy, and are marked in both. The copies are dropped
 *      by a flush that has written all metadata as of after the last freeing. If there is no memory
 *      for a copy, or nothing else is free, an allocation flushes first. A shortened inode is
 *      written into its block at once, so that the next flush covers it (ext2_blocks_freed).
 *   3. Never remove the last pointer to an object before the new one is on the medium. A renamed file
 *      has two names for a moment, and the old one is removed after a flush, unless one sector
 *      contains both changes (ext2_before_move). So is a name after link gave the file another one
 *      (ext2_before_unname). A name that rename takes from another file refers to the new file on
 *      the medium before the other file is freed, by the same flush.
 *
 * Soft updates keep a list of dependencies for each block, and write an old version of a part of it
 * where a dependency is open; they never wait. Here the unit is the whole disk: two counters number
 * the flushes, and a time is "the first flush that covers this". The callers (namei.c, link.c,
 * truncate.c, balloc.c, ialloc.c, inode.c) say what they are about to do, or have done; all
 * decisions are here. Left out: the order of a file's data. A rename without a preceding fsync may
 * yield a new file without its content (super.c).
 */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"
#include "mm/slab.h"

/* lab: copies */
struct kept {
	struct list_head node; /* in fs->kept */
	u32 block;             /* the bitmap's */
	u8 map[];
};

static struct kept *find_kept(const struct ext2_fs *fs, u32 block)
{
	struct kept *k;

	list_for_each_entry(k, &fs->kept, node)
		if (k->block == block)
			return k;
	return NULL;
}

void ext2_keep(struct ext2_fs *fs, const struct buf *map)
{
	struct kept *k;

	fs->freed_before = fs->flushes_begun + 1;
	if (find_kept(fs, map->block))
		return;
	k = kmalloc(sizeof(*k) + map->size, GFP_KERNEL | GFP_NORETRY);
	if (!k) {
		fs->not_kept = true;
		return;
	}
	k->block = map->block;
	memcpy(k->map, map->data, map->size);
	list_add(&k->node, &fs->kept);
}

const void *ext2_kept(const struct ext2_fs *fs, const struct buf *map)
{
	const struct kept *k = find_kept(fs, map->block);

	return k ? (const void *)k->map : map->data;
}

void ext2_take(struct ext2_fs *fs, struct buf *map, u32 bit, u32 count)
{
	struct kept *k = find_kept(fs, map->block);

	if (k)
		ext2_bits_set(k->map, bit, count);
	ext2_bits_set(map->data, bit, count);
	buf_dirty(map);
}

void ext2_kept_drop(struct ext2_fs *fs)
{
	struct kept *k, *next;

	list_for_each_entry_safe(k, next, &fs->kept, node)
		kfree(k);
	INIT_LIST_HEAD(&fs->kept);
	fs->not_kept = false;
}
/* lab: end */

/* lab: flush */
int ext2_flush(struct super_block *sb)
{
	struct ext2_fs *fs = ext2_fs(sb);
	u32 nr = ++fs->flushes_begun;
	int err = buf_sync_all(sb->bdev), err2 = block_flush(sb->bdev);

	if (err || err2)
		return err ? err : err2;
	fs->flushed = MAX(fs->flushed, nr);
	/* During freeing, the block of an inode may still hold pointers to what is freed. */
	if (!sb->freeing && fs->flushed >= fs->freed_before)
		ext2_kept_drop(fs);
	return 0;
}
/* lab: end */

/* lab: reuse */
int ext2_flush_kept(struct ext2_fs *fs)
{
	return fs->not_kept ? ext2_flush(fs->sb) : 0;
}

int ext2_give_kept(struct ext2_fs *fs)
{
	return list_empty(&fs->kept) ? -ENOSPC : ext2_flush(fs->sb);
}
/* lab: end */

/* lab: shortened */
/* Writes the shortened inode into its block. A flush that begins afterwards includes it. */
void ext2_blocks_freed(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	if (ext2_write_inode(inode)) /* sleeps: a flush may begin meanwhile */
		inode_mark_dirty(inode);
	fs->freed_before = fs->flushes_begun + 1;
}
/* lab: end */

/* lab: names */
int ext2_before_name(struct inode *inode)
{
	ext2_info(inode)->named_in = ext2_fs(inode->sb)->flushes_begun + 1;
	return ext2_write_inode(inode);
}

int ext2_before_addresses(struct inode *inode)
{
	bool is_promised = ext2_fs(inode->sb)->flushed >= ext2_info(inode)->named_in;

	return is_promised ? ext2_flush(inode->sb) : 0;
}

void ext2_named(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	if (ext2_kind(inode) != S_IFDIR && inode->nlink > 1)
		fs->named_before = fs->flushes_begun + 1;
}

int ext2_before_unname(struct inode *inode)
{
	const struct ext2_fs *fs = ext2_fs(inode->sb);

	return inode->nlink > 1 && fs->named_before > fs->flushed ? ext2_flush(inode->sb) : 0;
}

int ext2_before_move(struct super_block *sb, u32 entered, u32 removed)
{
	return entered == removed ? 0 : ext2_flush(sb);
}
/* lab: end */
