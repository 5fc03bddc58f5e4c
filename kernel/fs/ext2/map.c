/*
 * The mapping of a file's blocks to the disk.
 *
 * An inode has 15 slots. The first 12 hold the addresses of the file's first blocks. Slot 12 is the
 * address of a block full of addresses, slot 13 of a block of addresses of such blocks, and slot 14
 * adds one more level: 2^2n and 2^3n blocks if a block holds 2^n addresses (n is 8, 9 or 10). So
 * small files need no further reads, and large ones at most three, whose blocks stay cached while
 * in use.
 *
 *	slot 0 .. 11           data
 *	slot 12 -> block of addresses -> data
 *	slot 13 -> ... -> block of addresses -> data
 *	slot 14 -> ... -> ... -> block of addresses -> data
 *
 * A new block is first taken from the bitmap, with all missing blocks of addresses on the path to
 * it. Those are filled from the bottom, order.c decides whether they must be on the disk now, and
 * finally the one empty slot is set. If anything fails before that, all blocks are freed and nothing
 * has changed.
 *
 * Lookups need no lock. Meanwhile blocks can only be added, or removed by ext2_cut, which
 * increments a counter: if that has changed, the result, or the error, may concern a block that now
 * belongs to another file, and the lookup is repeated.
 */
#include "ext2.h"

#define MAX_LEVELS 3u

/* A path to a block: index[0] in the inode's slots, then one index in each block of addresses. */
struct way {
	u32 index[MAX_LEVELS + 1];
	u32 levels;     /* blocks of addresses on the path */
	u32 level;      /* blocks of addresses found so far */
	u32 *slot;      /* where it ended: a missing address, or that of the data */
	struct buf buf; /* the block that slot is in, if level > 0 */
};

/* Limited by the 32-bit count of 512-byte blocks, or by the range of the slots. */
u64 ext2_max_size(const struct ext2_fs *fs)
{
	u32 n = fs->addr_bits;
	u64 reach = EXT2_NR_DIRECT + (1ull << n) + (1ull << 2 * n) + (1ull << 3 * n);
	u64 counted = (1ull << 41) - (1ull << 32); /* leaves room for the blocks of addresses */

	if (!fs->es.rev)
		return 0x7fffffff;
	return MIN(reach << fs->sb->block_bits, counted);
}

/* Sets index and levels. */
static void find_way(const struct ext2_fs *fs, u32 block, struct way *way)
{
	u32 mask = (1u << fs->addr_bits) - 1;

	way->levels = 0;
	if (block < EXT2_NR_DIRECT) {
		way->index[0] = block;
		return;
	}
	block -= EXT2_NR_DIRECT;
	for (way->levels = 1; way->levels < MAX_LEVELS; way->levels++) {
		u32 reach = 1u << way->levels * fs->addr_bits;

		if (block < reach)
			break;
		block -= reach;
	}
	way->index[0] = EXT2_NR_DIRECT + way->levels - 1;
	for (u32 level = way->levels; level; level--, block >>= fs->addr_bits)
		way->index[level] = block & mask;
}

/* Goes down as far as there are addresses. Returns 0, -EIO or -ENOMEM. Call way_end afterwards. */
static int way_walk(struct inode *inode, struct way *way)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	way->slot = &ext2_info(inode)->raw.slot[way->index[0]];
	for (way->level = 0; way->level < way->levels && *way->slot; way->level++) {
		struct buf next;
		int err = ext2_block_ok(fs, *way->slot) ? 0 : -EIO;

		if (!err)
			err = buf_read(inode->sb, *way->slot, &next);
		if (way->level)
			buf_put(&way->buf);
		if (err) {
			way->level = 0;
			return err;
		}
		way->buf = next;
		way->slot = (u32 *)next.data + way->index[way->level + 1];
	}
	return 0;
}

static void way_end(struct way *way)
{
	if (way->level)
		buf_put(&way->buf);
}

/* Returns the number of slots from this one to the end of its block. */
static u32 slots_left(const struct ext2_fs *fs, const struct way *way, u32 level)
{
	return (way->levels ? 1u << fs->addr_bits : EXT2_NR_DIRECT) - way->index[level];
}

/* Returns the number of blocks of the hole that begins here: 1 or more. */
static u32 hole_blocks(const struct ext2_fs *fs, const struct way *way, u32 max)
{
	u32 below = way->levels - way->level, n = 0, inside = 0;

	if (!below) {
		max = MIN(max, slots_left(fs, way, way->level));
		while (n < max && !way->slot[n])
			n++;
		return n;
	}
	for (u32 level = way->level + 1; level <= way->levels; level++)
		inside = inside << fs->addr_bits | way->index[level];
	return MIN(max, (1u << below * fs->addr_bits) - inside);
}

/* Stores the end of the path as an extent. Returns 0, or -EIO for an invalid address. */
static int way_extent(struct ext2_fs *fs, const struct way *way, u32 max, struct extent *extent)
{
	u32 first = *way->slot, n = 1;

	*extent = (struct extent){ .blocks = 1 };
	if (!first) {
		extent->blocks = hole_blocks(fs, way, max);
		return 0;
	}
	max = ext2_blocks_ok(fs, first, MIN(max, slots_left(fs, way, way->level)));
	if (!max)
		return -EIO;
	while (n < max && way->slot[n] == first + n)
		n++;
	extent->sector = first << (fs->sb->block_bits - 9);
	extent->blocks = n;
	return 0;
}

static int look_up(struct inode *inode, struct way *way, u32 max, struct extent *extent)
{
	struct ext2_info *info = ext2_info(inode);
	u32 cuts;
	int err;

	do {
		cuts = info->cuts;
		err = way_walk(inode, way);
		if (!err)
			err = way_extent(ext2_fs(inode->sb), way, max, extent);
		way_end(way);
	} while (cuts != info->cuts);
	return err;
}

/* Allocating missing blocks. */

/* Returns the goal for the new blocks: after the file's preceding block. */
static u32 goal_of(const struct inode *inode, const struct way *way)
{
	const struct ext2_fs *fs = ext2_fs(inode->sb);

	for (u32 back = 1; back <= way->index[way->level]; back++)
		if (way->slot[-(int)back])
			return way->slot[-(int)back] + 1;
	if (way->level)
		return way->buf.block + 1;
	if (ext2_info(inode)->goal)
		return ext2_info(inode)->goal;
	return ext2_group_first(fs, (inode->ino - 1) / fs->es.inodes_per_group);
}

/* New blocks, not yet linked. */
struct growth {
	u32 address[MAX_LEVELS], nr; /* blocks of addresses, from the top */
	u32 first, count;            /* data */
};

static void give_back(struct ext2_fs *fs, struct growth *new)
{
	for (u32 i = 0; i < new->nr; i++) {
		buf_forget(fs->sb, new->address[i]);
		ext2_free_blocks(fs, new->address[i], 1);
	}
	if (new->count)
		ext2_free_blocks(fs, new->first, new->count);
}

static int take_blocks(struct inode *inode, const struct way *way, u32 want, struct growth *new)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	u32 goal = goal_of(inode, way);
	bool alone = !inode->blocks;
	int err = 0;

	*new = (struct growth){ 0 };
	while (!err && new->nr < way->levels - way->level) {
		u32 one = 1;

		err = ext2_new_blocks(fs, goal, alone, &one, &new->address[new->nr]);
		if (!err)
			goal = new->address[new->nr++] + 1;
	}
	if (!err)
		err = ext2_new_blocks(fs, goal, alone, &want, &new->first);
	if (!err)
		new->count = want;
	else
		give_back(fs, new);
	return err;
}

/* Fills the new blocks of addresses from the bottom. Returns 0, -ENOMEM or -EIO. */
static int fill_addresses(struct inode *inode, const struct way *way, const struct growth *new)
{
	for (u32 i = new->nr; i-- > 0;) {
		u32 at = way->index[way->level + 1 + i];
		struct buf buf;
		int err = buf_new(inode->sb, new->address[i], &buf);

		if (err)
			return err;
		if (i + 1 < new->nr)
			((u32 *)buf.data)[at] = new->address[i + 1];
		else
			for (u32 n = 0; n < new->count; n++)
				((u32 *)buf.data)[at + n] = new->first + n;
		buf_put(&buf);
	}
	return 0;
}

/* Makes the blocks part of the file, by a single change. */
static void link_blocks(struct inode *inode, struct way *way, const struct growth *new)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);

	if (new->nr)
		*way->slot = new->address[0];
	else
		for (u32 n = 0; n < new->count; n++)
			way->slot[n] = new->first + n;
	if (way->level)
		buf_dirty(&way->buf);
	inode->blocks += (u64)(new->nr + new->count) << (fs->sb->block_bits - 9);
	ext2_info(inode)->goal = new->first + new->count;
	inode_mark_dirty(inode);
}

/* Allocates blocks for the empty slot at the end of the path. Returns 0, -ENOSPC, -EIO or
 * -ENOMEM. */
static int grow(struct inode *inode, struct way *way, u32 max, struct extent *extent)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	struct growth new;
	u32 want;
	int err;

	if (way->level == way->levels)
		want = hole_blocks(fs, way, max);
	else
		want = MIN(max, slots_left(fs, way, way->levels));
	err = take_blocks(inode, way, want, &new);
	if (err)
		return err;
	err = fill_addresses(inode, way, &new);
	if (!err && new.nr && !ext2_is_logged(inode->sb))
		err = ext2_before_addresses(inode);
	if (err) {
		give_back(fs, &new);
		return err;
	}
	link_blocks(inode, way, &new);
	extent->sector = new.first << (fs->sb->block_bits - 9);
	extent->blocks = new.count;
	extent->fresh = true;
	return 0;
}

static int create(struct inode *inode, struct way *way, u32 max, struct extent *extent)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	int err;

	if (inode->sb->read_only)
		return -EROFS;
	mutex_lock(&fs->lock);
	err = way_walk(inode, way);
	if (!err)
		err = way_extent(fs, way, max, extent);
	if (!err && !extent->sector)
		err = grow(inode, way, max, extent);
	way_end(way);
	mutex_unlock(&fs->lock);
	return err;
}

int ext2_map(struct inode *inode, u32 block, u32 max, bool create_it, struct extent *extent)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	struct way way;
	int err;

	if (block >= ext2_max_size(fs) >> fs->sb->block_bits)
		return -EFBIG;
	find_way(fs, block, &way);
	err = look_up(inode, &way, max, extent);
	if (!err && !extent->sector && create_it)
		err = create(inode, &way, max, extent);
	if (err == -EIO)
		ext2_error(inode->sb, "block %u of inode %u cannot be found", block, inode->ino);
	return err;
}

const struct cache_ops ext2_cache_ops = { .map = ext2_map };
