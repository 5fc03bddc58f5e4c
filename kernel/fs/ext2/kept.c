/*
 * What was freed is not given again until the disk knows that it is free.
 *
 * A file is cut, another one gets its blocks, and its data are written at once; then the power goes. On
 * the disk both files have these blocks: the first one's have the second one's data, also those that were
 * its addresses, so that e2fsck may throw all of it away, with what was to stay. The same with an
 * inode's number: a name that was removed would lead to another file. It is the second rule of soft
 * updates (Ganger and Patt, Metadata Update Performance in File Systems, 1994): never use a thing again
 * before all that leads to it is gone from the disk.
 *
 * So of a bitmap in which something is freed the state before is kept. What is given is free there, and
 * is marked in both. A flush that has written all metadata as it was after the last of it was freed
 * lets the copies go. If there is no memory for a copy, or nothing else is free, who wants a block or an
 * inode flushes first.
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
	/* While something is freed, an inode that is not yet in its block leads to it. */
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
