/*
 * Freeing blocks of a file: all from a given one to its end.
 *
 * The part to free is the rest of the tree of map.c. The walk goes down only along the border, and
 * through the part beyond it. A block of addresses is freed if nothing before the border depends on
 * it. Consecutive blocks are freed together. The walk ends at the first inconsistency (a block that
 * is already free, an address out of range), so that even a damaged tree that contains itself costs
 * no more steps than it has blocks in use.
 */
#include "ext2.h"

struct cut {
	struct inode *inode;
	struct ext2_fs *fs;
	u32 first, count; /* a run still to be freed */
	u32 freed;
	bool metadata; /* the data are blocks of buf_*, too */
};

static int flush_run(struct cut *c)
{
	u32 count = c->count;

	c->count = 0;
	c->freed += count;
	return count ? ext2_free_blocks(c->fs, c->first, count) : 0;
}

static int free_block(struct cut *c, u32 block, bool metadata)
{
	int err = 0;

	if (metadata)
		buf_forget(c->inode->sb, block);
	if (block == c->first + c->count && c->count) {
		c->count++;
		return 0;
	}
	err = flush_run(c);
	c->first = block;
	c->count = 1;
	return err;
}

static int cut_slots(struct cut *c, u32 *slot, u32 nr, u32 level, u32 from);

/* Frees the blocks below a slot at `level` (0: data), from block number `from` on. */
static int cut_slot(struct cut *c, u32 *slot, u32 level, u32 from)
{
	u32 block = *slot; /* a damaged tree may contain the slot itself */
	struct buf buf;
	int err;

	if (!block)
		return 0;
	if (!ext2_block_ok(c->fs, block))
		return -EIO;
	if (level) {
		err = buf_read(c->inode->sb, block, &buf);
		if (err)
			return err;
		err = cut_slots(c, (u32 *)buf.data, 1u << c->fs->addr_bits, level - 1, from);
		if (from || err)
			buf_dirty(&buf);
		buf_put(&buf);
		if (err || from)
			return err;
	}
	err = free_block(c, block, level || c->metadata);
	*slot = 0;
	return err;
}

/* Calls cut_slot for nr consecutive slots. */
static int cut_slots(struct cut *c, u32 *slot, u32 nr, u32 level, u32 from)
{
	u32 bits = level * c->fs->addr_bits, start = from >> bits;
	int err = 0;

	for (u32 i = start; !err && i < nr; i++)
		err = cut_slot(c, &slot[i], level, i == start ? from & ((1u << bits) - 1) : 0);
	return err;
}

static int cut_tree(struct cut *c, u64 first)
{
	u32 *slot = ext2_info(c->inode)->raw.slot;
	u64 base = EXT2_NR_DIRECT;
	int err = 0;

	if (first < base)
		err = cut_slots(c, slot, EXT2_NR_DIRECT, 0, first);
	for (u32 level = 1; !err && level <= 3; level++) {
		u64 reach = 1ull << level * c->fs->addr_bits;

		if (first < base + reach)
			err = cut_slot(c, &slot[EXT2_NR_DIRECT + level - 1], level,
				       first > base ? first - base : 0);
		base += reach;
	}
	return err;
}

int ext2_cut(struct inode *inode, u64 size)
{
	struct super_block *sb = inode->sb;
	struct ext2_fs *fs = ext2_fs(sb);
	struct cut c = { .inode = inode, .fs = fs, .metadata = ext2_kind(inode) != S_IFREG };
	u64 sectors;
	int err, last;

	mutex_lock(&fs->lock);
	sb->freeing = true;
	ext2_info(inode)->cuts++;
	err = cut_tree(&c, (size + sb->block_size - 1) >> sb->block_bits);
	last = flush_run(&c);
	sectors = (u64)c.freed << (sb->block_bits - 9);
	inode->blocks -= MIN(inode->blocks, sectors);
	ext2_info(inode)->goal = 0;
	ext2_info(inode)->cuts++;
	if (c.freed)
		ext2_blocks_freed(inode);
	else
		inode_mark_dirty(inode);
	sb->freeing = false;
	mutex_unlock(&fs->lock);
	if (err == -EIO || last == -EIO)
		ext2_error(sb, "blocks of inode %u cannot be freed", inode->ino);
	return err ? err : last;
}
