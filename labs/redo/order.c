/*
 * No order of writes, in the grader's program on the host: a log needs none. So the program does not depend on
 * lab 10's file (kernel/fs/ext2/order.c), in whose place a student's tree may have the starter.
 */
#include "drivers/block.h"

#include "../../kernel/fs/ext2/ext2.h"

int ext2_flush(struct super_block *sb)
{
	int err = buf_sync_all(sb->bdev), err2 = block_flush(sb->bdev);

	return err ? err : err2;
}

int ext2_before_name(struct inode *inode)
{
	return ext2_write_inode(inode);
}

int ext2_before_addresses(struct inode *inode)
{
	(void)inode;
	return 0;
}

void ext2_named(struct inode *inode)
{
	(void)inode;
}

int ext2_before_unname(struct inode *inode)
{
	(void)inode;
	return 0;
}

int ext2_before_move(struct super_block *sb, u32 entered, u32 removed)
{
	(void)sb, (void)entered, (void)removed;
	return 0;
}

void ext2_blocks_freed(struct inode *inode)
{
	inode_mark_dirty(inode);
}

void ext2_keep(struct ext2_fs *fs, const struct buf *map)
{
	(void)fs, (void)map;
}

const void *ext2_kept(const struct ext2_fs *fs, const struct buf *map)
{
	(void)fs;
	return map->data;
}

void ext2_take(struct ext2_fs *fs, struct buf *map, u32 bit, u32 count)
{
	(void)fs;
	ext2_bits_set(map->data, bit, count);
	buf_dirty(map);
}

int ext2_flush_kept(struct ext2_fs *fs)
{
	(void)fs;
	return 0;
}

int ext2_give_kept(struct ext2_fs *fs)
{
	(void)fs;
	return -ENOSPC;
}

void ext2_kept_drop(struct ext2_fs *fs)
{
	(void)fs;
}
