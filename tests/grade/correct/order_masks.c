/* Beside each bitmap in which something was freed: what was in use before, and room for the answer. */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"
#include "mm/slab.h"

struct was {
	struct list_head node;
	u32 block, size;
	u8 bytes[]; /* in use at the last flush or since; then what is not free */
};

static struct was *was_of(const struct ext2_fs *fs, u32 block)
{
	struct was *w;

	list_for_each_entry(w, &fs->kept, node)
		if (w->block == block)
			return w;
	return NULL;
}

void ext2_keep(struct ext2_fs *fs, const struct buf *map)
{
	struct was *w = was_of(fs, map->block);

	fs->freed_before = fs->flushes_begun + 1;
	if (!w) {
		w = kmalloc(sizeof(*w) + 2 * map->size, GFP_KERNEL | GFP_NORETRY);
		if (!w) {
			fs->not_kept = true;
			return;
		}
		*w = (struct was){ .block = map->block, .size = map->size };
		memset(w->bytes, 0, map->size);
		list_add_tail(&w->node, &fs->kept);
	}
	for (u32 i = 0; i < map->size; i++)
		w->bytes[i] |= ((const u8 *)map->data)[i];
}

const void *ext2_kept(const struct ext2_fs *fs, const struct buf *map)
{
	struct was *w = was_of(fs, map->block);

	if (!w)
		return map->data;
	for (u32 i = 0; i < w->size; i++)
		w->bytes[w->size + i] = w->bytes[i] | ((const u8 *)map->data)[i];
	return w->bytes + w->size;
}

void ext2_take(struct ext2_fs *fs, struct buf *map, u32 bit, u32 count)
{
	(void)fs;
	ext2_bits_set(map->data, bit, count);
	buf_dirty(map);
}

void ext2_kept_drop(struct ext2_fs *fs)
{
	struct was *w, *next;

	list_for_each_entry_safe(w, next, &fs->kept, node) {
		list_del(&w->node);
		kfree(w);
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
	if (!fs->not_kept)
		return 0;
	return ext2_flush(fs->sb);
}

int ext2_give_kept(struct ext2_fs *fs)
{
	if (list_empty(&fs->kept))
		return -ENOSPC;
	return ext2_flush(fs->sb);
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
