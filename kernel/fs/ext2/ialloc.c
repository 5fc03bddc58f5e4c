/*
 * Choosing a file's inode. A file's inode lies in its directory's group, or one of the next. A
 * directory goes to the group with the most free blocks among those with at least the average
 * number of free inodes. So the files of one directory lie close together, and different
 * directories lie apart, with room to grow.
 */
#include "ext2.h"

static u32 group_of_dir(struct ext2_fs *fs)
{
	u32 average = fs->es.free_inodes / fs->nr_groups, best = 0, most = 0;

	for (u32 i = 0; i < fs->nr_groups; i++) {
		const struct ext2_group *g = ext2_group(fs, i);

		if (g->free_inodes && g->free_inodes >= average && g->free_blocks > most) {
			most = g->free_blocks;
			best = i;
		}
	}
	return best;
}

static void count_inodes(struct ext2_fs *fs, u32 group, int change, bool is_dir)
{
	struct ext2_group *g = ext2_group(fs, group);

	g->free_inodes = MAX(g->free_inodes + change, 0);
	fs->es.free_inodes = MAX((int)fs->es.free_inodes + change, 0);
	if (is_dir)
		g->used_dirs = MAX(g->used_dirs - change, 0);
	ext2_group_dirty(fs, group);
}

static int new_in_group(struct ext2_fs *fs, u32 group, bool is_dir, u32 *ino)
{
	u32 first = group * fs->es.inodes_per_group + 1, end = fs->es.inodes_per_group;
	u32 from = first < fs->first_ino ? fs->first_ino - first : 0, bit;
	struct buf map;
	int err;

	if (!ext2_group(fs, group)->free_inodes || from >= end)
		return -ENOSPC;
	err = buf_read(fs->sb, ext2_group(fs, group)->inode_bitmap, &map);
	if (err)
		return err;
	bit = ext2_bits_find(ext2_kept(fs, &map), from, end);
	if (bit < end) {
		ext2_take(fs, &map, bit, 1);
		count_inodes(fs, group, -1, is_dir);
		*ino = first + bit;
	}
	buf_put(&map);
	return bit < end ? 0 : -ENOSPC;
}

static int new_inode(struct inode *dir, bool is_dir, u32 *ino)
{
	struct ext2_fs *fs = ext2_fs(dir->sb);
	u32 start = is_dir ? group_of_dir(fs) : (dir->ino - 1) / fs->es.inodes_per_group;

	for (u32 i = 0; i < fs->nr_groups; i++) {
		int err = new_in_group(fs, (start + i) % fs->nr_groups, is_dir, ino);

		if (err != -ENOSPC)
			return err;
	}
	return -ENOSPC;
}

int ext2_new_inode(struct inode *dir, bool is_dir, u32 *ino)
{
	struct ext2_fs *fs = ext2_fs(dir->sb);
	int err = ext2_before_taking(fs);

	if (!err)
		err = new_inode(dir, is_dir, ino);
	if (err != -ENOSPC)
		return err;
	err = ext2_nothing_free(fs);
	return err ? err : new_inode(dir, is_dir, ino);
}

void ext2_free_inode(struct ext2_fs *fs, u32 ino, bool is_dir)
{
	u32 group = (ino - 1) / fs->es.inodes_per_group;
	u32 bit = (ino - 1) % fs->es.inodes_per_group;
	struct buf map;

	if (ext2_freed_later(fs, is_dir ? EXT2_FREED_DIR : EXT2_FREED_INODE, group, bit, 1))
		return;
	if (buf_read(fs->sb, ext2_group(fs, group)->inode_bitmap, &map)) {
		ext2_error(fs->sb, "inode %u cannot be freed", ino);
		return;
	}
	if (!ext2_is_logged(fs->sb))
		ext2_keep(fs, &map);
	if (ext2_bit(map.data, bit)) {
		((u8 *)map.data)[bit / 8] &= ~(1u << bit % 8);
		buf_dirty(&map);
		count_inodes(fs, group, 1, is_dir);
	} else {
		ext2_error(fs->sb, "inode %u is freed, but was free", ino);
	}
	buf_put(&map);
}
