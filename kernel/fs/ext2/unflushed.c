/*
 * Freed blocks and inodes are not reused until the disk has recorded that they are free.
 *
 * Suppose that a file is truncated, another file gets its blocks, and its data are written at once;
 * then the power is cut. On the disk both files now have these blocks, and the first file's blocks
 * hold the second file's data, even where its addresses were, so that e2fsck may delete the whole
 * file, with the part that should stay. Likewise with an inode number: a removed name would lead to
 * another file. This is the second rule of soft updates (Ganger and Patt, Metadata Update
 * Performance in File Systems, 1994): never reuse a resource before all pointers to it are gone
 * from the disk.
 *
 * So for a bitmap in which something is freed, a copy of its former state is kept. Allocations must
 * be free in that copy, and are marked in both. The copies are dropped by a flush that has written
 * all metadata as of after the last freeing. If there is no memory for a copy, or nothing else is
 * free, an allocation flushes first.
 */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"
#include "mm/slab.h"

struct kept {
	struct list_head node; /* in fs->kept */
	u32 block;             /* the bitmap's */
	u8 map[];
};

static struct kept *find(const struct ext2_fs *fs, u32 block)
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
	if (find(fs, map->block))
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
	const struct kept *k = find(fs, map->block);

	return k ? (const void *)k->map : map->data;
}

void ext2_take(struct ext2_fs *fs, struct buf *map, u32 bit, u32 count)
{
	struct kept *k = find(fs, map->block);

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

int ext2_flush_kept(struct ext2_fs *fs)
{
	return fs->not_kept ? ext2_flush(fs->sb) : 0;
}

int ext2_give_kept(struct ext2_fs *fs)
{
	return list_empty(&fs->kept) ? -ENOSPC : ext2_flush(fs->sb);
}
