/* Which files got a name lately: the latest ones one by one, all earlier ones together. */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"
#include "mm/slab.h"

#define LATELY 16u

static struct linked {
	const struct ext2_fs *fs;
	u32 ino, before; /* the first flush with the file's names */
} lately[LATELY];
static u32 next_linked;

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
	return list_empty(&fs->kept) ? -ENOSPC : ext2_flush(fs->sb);
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
	struct linked *old = &lately[next_linked];

	if (inode->nlink < 2 || ext2_kind(inode) == S_IFDIR)
		return;
	if (old->fs)
		fs->named_before = MAX(fs->named_before, old->before);
	*old = (struct linked){ fs, inode->ino, fs->flushes_begun + 1 };
	next_linked = (next_linked + 1) % LATELY;
}

int ext2_before_unname(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	u32 before = fs->named_before;

	if (inode->nlink < 2)
		return 0;
	for (u32 i = 0; i < LATELY; i++)
		if (lately[i].fs == fs && lately[i].ino == inode->ino)
			before = MAX(before, lately[i].before);
	return before > fs->flushed ? ext2_flush(inode->sb) : 0;
}

int ext2_before_move(struct super_block *sb, u32 entered, u32 removed)
{
	if (entered && entered == removed)
		return 0;
	return ext2_flush(sb);
}
