/*
 * Choosing a file's blocks. Sequential reads need no seeks if the blocks of a file are consecutive,
 * so the goal is the block after its last one. If that is in use, another file grows there, too;
 * then the two should separate at once and far: balloc looks for the next free run of 64 blocks,
 * then of 8, then for any block. The first block of a file goes to the first free block of its
 * inode's group, so that small files lie close together. The next groups follow. Nothing is
 * reserved in advance: a file that is written at once gets consecutive blocks, because map.c asks
 * for many at once.
 */
#include "ext2.h"

static int bitmap_read(struct ext2_fs *fs, u32 group, struct buf *map)
{
	return buf_read(fs->sb, ext2_group(fs, group)->block_bitmap, map);
}

/* Returns a free bit in a group's bitmap from `from` on, or end. alone: as in ext2_new_blocks. */
static u32 search(const void *map, u32 from, u32 end, bool alone)
{
	u32 bit;

	if (alone || (from < end && !ext2_bit(map, from)))
		return ext2_bits_find(map, from, end);
	bit = ext2_bits_find_run(map, from, end, 64);
	if (bit == end)
		bit = ext2_bits_find_run(map, from, end, 8);
	return bit == end ? ext2_bits_find(map, from, end) : bit;
}

static void count_blocks(struct ext2_fs *fs, u32 group, int change)
{
	struct ext2_group *g = ext2_group(fs, group);

	g->free_blocks = MAX(g->free_blocks + change, 0);
	fs->es.free_blocks = MAX((int)fs->es.free_blocks + change, 0);
	ext2_group_dirty(fs, group);
}

static int take(struct ext2_fs *fs, u32 group, struct buf *map, u32 bit, u32 *count)
{
	u32 first = ext2_group_first(fs, group) + bit, end = ext2_group_blocks(fs, group), n = 0;
	u32 ok = ext2_blocks_ok(fs, first, *count);
	const void *free = ext2_kept(fs, map);

	for (; n < *count && bit + n < end && !ext2_bit(free, bit + n); n++)
		if (n >= ok)
			return ext2_error(fs->sb, "block %u of group %u is marked free", first + n,
					  group);
	ext2_take(fs, map, bit, n);
	count_blocks(fs, group, -(int)n);
	*count = n;
	return 0;
}

static int new_in_group(struct ext2_fs *fs, u32 group, u32 from, bool alone, u32 *count, u32 *first)
{
	u32 end = ext2_group_blocks(fs, group), bit;
	struct buf map;
	int err;

	if (!ext2_group(fs, group)->free_blocks)
		return -ENOSPC;
	err = bitmap_read(fs, group, &map);
	if (err)
		return err;
	bit = search(ext2_kept(fs, &map), from, end, alone);
	err = bit == end ? -ENOSPC : take(fs, group, &map, bit, count);
	*first = ext2_group_first(fs, group) + bit;
	buf_put(&map);
	return err;
}

static int new_blocks(struct ext2_fs *fs, u32 goal, bool alone, u32 *count, u32 *first)
{
	u32 start, from;

	if (goal <= fs->es.first_data_block || goal >= fs->es.blocks_count)
		goal = fs->es.first_data_block;
	start = ext2_group_of(fs, goal);
	from = goal - ext2_group_first(fs, start);
	/* The goal's group is searched twice: the second time from its beginning. */
	for (u32 i = 0; i <= fs->nr_groups; i++) {
		u32 group = (start + i) % fs->nr_groups;
		int err = new_in_group(fs, group, i ? 0 : from, alone, count, first);

		if (err != -ENOSPC)
			return err;
	}
	return -ENOSPC;
}

int ext2_new_blocks(struct ext2_fs *fs, u32 goal, bool alone, u32 *count, u32 *first)
{
	int err = ext2_before_taking(fs);

	if (!err)
		err = new_blocks(fs, goal, alone, count, first);
	if (err != -ENOSPC)
		return err;
	err = ext2_nothing_free(fs);
	return err ? err : new_blocks(fs, goal, alone, count, first);
}

static int free_in_group(struct ext2_fs *fs, u32 group, u32 bit, u32 count)
{
	struct buf map;
	u32 n = 0;
	int err;

	if (ext2_freed_later(fs, EXT2_FREED_BLOCKS, group, bit, count))
		return 0;
	err = bitmap_read(fs, group, &map);
	if (err)
		return err;
	if (!ext2_is_logged(fs->sb))
		ext2_keep(fs, &map);
	for (; n < count && ext2_bit(map.data, bit + n); n++)
		((u8 *)map.data)[(bit + n) / 8] &= ~(1u << (bit + n) % 8);
	if (n) {
		buf_dirty(&map);
		count_blocks(fs, group, n);
	}
	buf_put(&map);
	if (n < count)
		return ext2_error(fs->sb, "block %u is freed, but was free",
				  ext2_group_first(fs, group) + bit + n);
	return 0;
}

int ext2_free_blocks(struct ext2_fs *fs, u32 first, u32 count)
{
	for (u32 n; count; first += n, count -= n) {
		u32 group = ext2_group_of(fs, first), bit = first - ext2_group_first(fs, group);
		int err;

		n = MIN(count, ext2_group_blocks(fs, group) - bit);
		err = free_in_group(fs, group, bit, n);
		if (err)
			return err;
	}
	return 0;
}
