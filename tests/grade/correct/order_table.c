/* Copies of bitmaps in a table of fixed size; what does not fit is flushed before the next allocation. */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"
#include "mm/slab.h"

#define PLACES 16u

static struct copy {
	const struct ext2_fs *fs; /* NULL: free */
	u32 block;
	u8 *map;
} copies[PLACES];

static struct copy *copy_of(const struct ext2_fs *fs, u32 block)
{
	for (u32 i = 0; i < PLACES; i++)
		if (copies[i].fs == fs && copies[i].block == block)
			return &copies[i];
	return NULL;
}

static struct copy *free_place(void)
{
	for (u32 i = 0; i < PLACES; i++)
		if (!copies[i].fs)
			return &copies[i];
	return NULL;
}

static bool add_copy(const struct ext2_fs *fs, const struct buf *map)
{
	u8 *made = kmalloc(map->size, GFP_KERNEL | GFP_NORETRY);
	struct copy *place = free_place();

	if (!made || !place) {
		kfree(made);
		return false;
	}
	memcpy(made, map->data, map->size);
	*place = (struct copy){ fs, map->block, made };
	return true;
}

void ext2_keep(struct ext2_fs *fs, const struct buf *map)
{
	fs->freed_before = fs->flushes_begun + 1;
	if (!copy_of(fs, map->block) && !add_copy(fs, map))
		fs->not_kept = true;
}

const void *ext2_kept(const struct ext2_fs *fs, const struct buf *map)
{
	const struct copy *c = copy_of(fs, map->block);

	return c ? c->map : (const void *)map->data;
}

void ext2_take(struct ext2_fs *fs, struct buf *map, u32 bit, u32 count)
{
	struct copy *c = copy_of(fs, map->block);

	ext2_bits_set(map->data, bit, count);
	if (c)
		ext2_bits_set(c->map, bit, count);
	buf_dirty(map);
}

void ext2_kept_drop(struct ext2_fs *fs)
{
	for (u32 i = 0; i < PLACES; i++)
		if (copies[i].fs == fs) {
			kfree(copies[i].map);
			copies[i].fs = NULL;
		}
	fs->not_kept = false;
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
	if (!sb->freeing && fs->freed_before <= fs->flushed)
		ext2_kept_drop(fs);
	return 0;
}

int ext2_flush_kept(struct ext2_fs *fs)
{
	return fs->not_kept ? ext2_flush(fs->sb) : 0;
}

int ext2_give_kept(struct ext2_fs *fs)
{
	for (u32 i = 0; i < PLACES; i++)
		if (copies[i].fs == fs)
			return ext2_flush(fs->sb);
	return -ENOSPC;
}

void ext2_blocks_freed(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	if (ext2_write_inode(inode))
		inode_mark_dirty(inode);
	fs->freed_before = fs->flushes_begun + 1;
}

int ext2_before_name(struct inode *inode)
{
	ext2_info(inode)->named_in = ext2_fs(inode->sb)->flushes_begun + 1;
	return ext2_write_inode(inode);
}

int ext2_before_addresses(struct inode *inode)
{
	if (ext2_info(inode)->named_in > ext2_fs(inode->sb)->flushed)
		return 0;
	return ext2_flush(inode->sb);
}

void ext2_named(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	if (inode->nlink > 1 && ext2_kind(inode) != S_IFDIR)
		fs->named_before = fs->flushes_begun + 1;
}

int ext2_before_unname(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	if (inode->nlink < 2 || fs->flushed >= fs->named_before)
		return 0;
	return ext2_flush(inode->sb);
}

int ext2_before_move(struct super_block *sb, u32 entered, u32 removed)
{
	if (entered && entered == removed)
		return 0;
	return ext2_flush(sb);
}
