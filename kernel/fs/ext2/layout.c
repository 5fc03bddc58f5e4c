/*
 * The layout of the disk. Every number of superblock and descriptors is checked here once, at
 * mount, so that later computations with them need no check: tables lie in their own groups, on the
 * device, and do not overlap. Copies are checked and used: a program that writes to the device's
 * file changes the blocks, but not these numbers.
 */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/printf.h"

u32 ext2_group_first(const struct ext2_fs *fs, u32 group)
{
	return fs->es.first_data_block + group * fs->es.blocks_per_group;
}

u32 ext2_group_blocks(const struct ext2_fs *fs, u32 group)
{
	return MIN(fs->es.blocks_per_group, fs->es.blocks_count - ext2_group_first(fs, group));
}

u32 ext2_group_of(const struct ext2_fs *fs, u32 block)
{
	return (block - fs->es.first_data_block) / fs->es.blocks_per_group;
}

static bool power_of(u32 n, u32 base)
{
	while (n % base == 0)
		n /= base;
	return n == 1;
}

/* Does the group begin with a copy of superblock and descriptors? */
static bool has_super(const struct ext2_fs *fs, u32 group)
{
	const struct ext2_super_block *es = &fs->es;

	if (group == 0)
		return true;
	if (es->compat & EXT2_COMPAT_SPARSE_SUPER2)
		return group == es->backup_groups[0] || group == es->backup_groups[1];
	if (!(es->ro_compat & EXT2_RO_COMPAT_SPARSE_SUPER))
		return true;
	return group == 1 || power_of(group, 3) || power_of(group, 5) || power_of(group, 7);
}

/* Returns the blocks of such a copy, with those reserved for more descriptors (resize2fs). */
static u32 copy_blocks(const struct ext2_fs *fs)
{
	u32 spare = fs->es.compat & EXT2_COMPAT_RESIZE_INODE ? fs->es.reserved_gdt_blocks : 0;

	return 1 + fs->nr_desc + spare;
}

static bool in_table(const struct ext2_fs *fs, const struct ext2_group *g, u32 block)
{
	return block - g->inode_table < fs->table_blocks;
}

/* Cuts the run of count blocks from first on before `own`. */
static u32 cut_run(u32 first, u32 count, u32 own)
{
	return own >= first ? MIN(count, own - first) : count;
}

u32 ext2_blocks_ok(struct ext2_fs *fs, u32 first, u32 count)
{
	u32 group, start;
	struct ext2_group *g;

	if (first <= fs->es.first_data_block || first >= fs->es.blocks_count)
		return 0;
	group = ext2_group_of(fs, first);
	start = ext2_group_first(fs, group);
	g = ext2_group(fs, group);
	if (first - start < copy_blocks(fs) && has_super(fs, group))
		return 0;
	if (in_table(fs, g, first))
		return 0;
	count = MIN(count, start + ext2_group_blocks(fs, group) - first);
	count = cut_run(first, count, g->block_bitmap);
	count = cut_run(first, count, g->inode_bitmap);
	return cut_run(first, count, g->inode_table);
}

bool ext2_block_ok(struct ext2_fs *fs, u32 block)
{
	return ext2_blocks_ok(fs, block, 1);
}

static int refuse(struct ext2_fs *fs, const char *what, u32 value)
{
	printk("ext2: %s: cannot be mounted: %s %u\n", fs->sb->bdev->name, what, value);
	return -EINVAL;
}

bool ext2_may_write(const struct ext2_fs *fs)
{
	u32 known = EXT2_RO_COMPAT_SPARSE_SUPER | EXT2_RO_COMPAT_LARGE_FILE;
	u32 unknown = fs->es.ro_compat & ~known;

	if (unknown)
		printk("ext2: %s: can only be mounted to read: unknown features 0x%x\n",
		       fs->sb->bdev->name, unknown);
	return !unknown;
}

/* Checks the features, in revision 0, too, which should have none. Returns 0, -EINVAL or -EROFS. */
static int check_revision(struct ext2_fs *fs)
{
	const struct ext2_super_block *es = &fs->es;
	u32 unknown;

	fs->inode_size = es->rev ? es->inode_size : EXT2_OLD_INODE_SIZE;
	fs->first_ino = es->rev ? es->first_ino : EXT2_OLD_FIRST_INO;
	if (es->rev > 1)
		return refuse(fs, "revision", es->rev);
	if (fs->inode_size < EXT2_OLD_INODE_SIZE || fs->inode_size > fs->sb->block_size ||
	    fs->inode_size & (fs->inode_size - 1))
		return refuse(fs, "inodes of bytes:", fs->inode_size);
	if (fs->first_ino < EXT2_OLD_FIRST_INO || fs->first_ino > es->inodes_count)
		return refuse(fs, "first inode", fs->first_ino);
	unknown = es->incompat & ~EXT2_INCOMPAT_FILETYPE;
	if (unknown) {
		printk("ext2: %s: cannot be mounted: unknown incompatible features 0x%x\n",
		       fs->sb->bdev->name, unknown);
		return -EINVAL;
	}
	return fs->sb->read_only || ext2_may_write(fs) ? 0 : -EROFS;
}

static int check_sizes(struct ext2_fs *fs)
{
	const struct ext2_super_block *es = &fs->es;
	u32 size = fs->sb->block_size, bits = size * 8;

	if (es->log_frag_size != es->log_block_size)
		return refuse(fs, "fragments of log2", es->log_frag_size);
	if (es->first_data_block != (size == 1024))
		return refuse(fs, "first block", es->first_data_block);
	if (es->blocks_count <= es->first_data_block + 1 ||
	    es->blocks_count > fs->sb->bdev->nr_sectors / (size / 512))
		return refuse(fs, "more blocks than the device has, or none:", es->blocks_count);
	if (!es->blocks_per_group || es->blocks_per_group > bits || es->blocks_per_group % 8)
		return refuse(fs, "blocks in a group:", es->blocks_per_group);
	if (!es->inodes_per_group || es->inodes_per_group > bits)
		return refuse(fs, "inodes in a group:", es->inodes_per_group);
	if (es->reserved_gdt_blocks > size / 4)
		return refuse(fs, "spare descriptor blocks:", es->reserved_gdt_blocks);
	return 0;
}

int ext2_check_super(struct ext2_fs *fs)
{
	const struct ext2_super_block *es = &fs->es;
	u32 size = fs->sb->block_size, per_block;
	int err;

	err = check_sizes(fs);
	if (!err)
		err = check_revision(fs);
	if (err)
		return err;
	fs->nr_groups = ext2_group_of(fs, es->blocks_count - 1) + 1;
	fs->desc_bits = fs->sb->block_bits - EXT2_GROUP_BITS;
	fs->nr_desc = ((fs->nr_groups - 1) >> fs->desc_bits) + 1;
	per_block = size / fs->inode_size;
	fs->table_blocks = (es->inodes_per_group + per_block - 1) / per_block;
	fs->addr_bits = fs->sb->block_bits - 2;
	if (es->inodes_count / es->inodes_per_group != fs->nr_groups ||
	    es->inodes_count % es->inodes_per_group)
		return refuse(fs, "inodes:", es->inodes_count);
	if (1 + fs->nr_desc >= ext2_group_blocks(fs, 0))
		return refuse(fs, "groups:", fs->nr_groups);
	return 0;
}

int ext2_check_groups(struct ext2_fs *fs)
{
	fs->overhead = fs->es.first_data_block;
	for (u32 i = 0; i < fs->nr_groups; i++) {
		const struct ext2_group *g = ext2_group(fs, i);
		u32 own = has_super(fs, i) ? copy_blocks(fs) : 0;
		u32 from = ext2_group_first(fs, i) + own;
		u32 room = ext2_group_blocks(fs, i) - own;

		if (own + 2 + fs->table_blocks > ext2_group_blocks(fs, i) ||
		    g->block_bitmap - from >= room || g->inode_bitmap - from >= room ||
		    g->inode_table - from > room - fs->table_blocks ||
		    g->block_bitmap == g->inode_bitmap || in_table(fs, g, g->block_bitmap) ||
		    in_table(fs, g, g->inode_bitmap))
			return refuse(fs, "wrong descriptor of group", i);
		fs->overhead += own + 2 + fs->table_blocks;
	}
	return 0;
}
