/* All questions are one: has this flush taken place? */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"
#include "mm/slab.h"

struct kept {
	struct list_head node; /* in fs->kept */
	u32 block;             /* the bitmap's */
	u8 map[];
};

/* The flush that will cover what is in memory now. */
static u32 next_flush(const struct ext2_fs *fs)
{
	return fs->flushes_begun + 1;
}

static bool took_place(const struct ext2_fs *fs, u32 flush)
{
	return fs->flushed >= flush;
}

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

	fs->freed_before = next_flush(fs);
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

static int flush_unless(struct ext2_fs *fs, bool needless)
{
	return needless ? 0 : ext2_flush(fs->sb);
}

int ext2_flush(struct super_block *sb)
{
	struct ext2_fs *fs = ext2_fs(sb);
	u32 this = ++fs->flushes_begun;
	int err = buf_sync_all(sb->bdev);
	int flush_err = block_flush(sb->bdev);

	if (!err)
		err = flush_err;
	if (err)
		return err;
	if (this > fs->flushed)
		fs->flushed = this;
	if (!sb->freeing && took_place(fs, fs->freed_before))
		ext2_kept_drop(fs);
	return 0;
}

int ext2_flush_kept(struct ext2_fs *fs)
{
	return flush_unless(fs, !fs->not_kept);
}

int ext2_give_kept(struct ext2_fs *fs)
{
	if (!fs->not_kept && list_empty(&fs->kept))
		return -ENOSPC;
	return ext2_flush(fs->sb);
}

void ext2_blocks_freed(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	int err = ext2_write_inode(inode);

	if (err)
		inode_mark_dirty(inode);
	fs->freed_before = next_flush(fs);
}

int ext2_before_name(struct inode *inode)
{
	int err = ext2_write_inode(inode);

	ext2_info(inode)->named_in = next_flush(ext2_fs(inode->sb));
	return err;
}

int ext2_before_addresses(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	return flush_unless(fs, !took_place(fs, ext2_info(inode)->named_in));
}

void ext2_named(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	if (ext2_kind(inode) != S_IFDIR && inode->nlink >= 2)
		fs->named_before = next_flush(fs);
}

int ext2_before_unname(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	return flush_unless(fs, inode->nlink == 1 || took_place(fs, fs->named_before));
}

int ext2_before_move(struct super_block *sb, u32 entered, u32 removed)
{
	return flush_unless(ext2_fs(sb), entered == removed);
}
