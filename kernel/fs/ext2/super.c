/*
 * ext2: files on a disk (Card, Ts'o, Tweedie: Design and Implementation of the Second Extended
 * Filesystem, 1994). Linux and e2fsprogs read and write the same disks.
 *
 * The disk is an array of blocks of 1, 2 or 4 KiB, divided into groups; a group has as many blocks
 * as a bitmap of one block has bits. Each group has a bitmap of its blocks, a bitmap of its inodes
 * and a table of its inodes; a descriptor holds their positions. Superblock and descriptors are at
 * the start of group 0. Copies of them are at the start of some other groups; only e2fsck reads
 * those.
 *
 *	| super | descriptors | block bitmap | inode bitmap | inode table | blocks of files ... |
 *
 * An inode has 128 bytes or more: mode, size, times, the number of its names, and 15 addresses of
 * blocks: 12 of the file's first ones, then one each of a block of addresses, of a block of
 * addresses of such blocks, and of one more level (map.c). Address 0 is a hole. A directory is a
 * file of entries that contain name and inode number (dir.c).
 *
 * Representation in memory. The kernel has copies of superblock and descriptors. Changes to them
 * are written into their blocks, which are pinned while the disk is mounted. All other metadata
 * (bitmaps, tables, addresses, directories, long symlinks) are blocks of the device, read and
 * marked dirty through buf_*. The data of regular files are pages of the file; the cache asks
 * ext2_map for the position of each block. An inode's slots are in ext2_info; ext2_write_inode
 * writes them into the block of the table.
 *
 * Locks. A directory's lock protects its names, and an inode's lock its size. fs->lock protects
 * bitmaps, counts and every file's tree of addresses; looking up an address needs no lock (map.c).
 * The holder of fs->lock waits for the disk and for memory, but for no other lock. Reclaim, which
 * provides memory, writes only pages whose blocks exist already, and so never needs it.
 *
 * Order of writes. A system call changes blocks in memory only. Dirty blocks are written later, by
 * the flusher in any order, or all at once by buf_sync_all: fsync writes the file's data, then its
 * inode into the block of the table, then all dirty metadata of all files, and returns when they
 * are on the medium: addresses, and the names in all directories up to the root. So after a power
 * cut, a file that was fsynced is complete and has its name, unless later calls changed it. Fsync
 * of a directory, or of any file, makes all names safe, but only this file's data. Later calls that
 * are not followed by a sync can damage only their own objects: a written file keeps its other
 * bytes, a truncated one its remaining bytes, a renamed one has one of its names, and a name taken
 * from another file refers to one of the two. The following rules guarantee that, on a disk that
 * writes sectors in any order:
 *
 *   - a new inode and a new directory's first block are in memory before the entry that names them,
 *     so no sync writes a name without its object;
 *   - a new block of addresses is on the disk before a file refers to it that may be there (order.c);
 *   - an additional name is on the disk before an older one is removed (order.c), so no power cut leaves
 *     a file without any name; likewise before the file that had the name is freed;
 *   - freed blocks and inodes are not reused before the disk has recorded the freeing (order.c);
 *   - a change of a directory lies in one sector (dir.c), so that no chain of names breaks;
 *   - the disk is marked as in use before anything changes, and as clean after all else was written.
 *
 * All other inconsistencies after a power cut are repaired by e2fsck: counts and bitmaps follow
 * from the inodes; names of inodes that were never written are removed; inodes without a name go to
 * lost+found, and those unlinked while open are freed. Not guaranteed: a call that was not followed
 * by a sync may be lost, also in part, while later ones are not. A growing file may end with the
 * former contents of its new blocks, up to the end of its last block; so may the rest of a block
 * that a write has allocated in a hole. Without a preceding fsync, a rename may yield a new file
 * without its content.
 *
 * Mounted with -o redo, each call is atomic instead (log.c): after a power cut and the next mount, e2fsck
 * has nothing to repair, except for files that were unlinked while open.
 *
 * No data from the disk are trusted: each number is checked before it is used (layout.c at mount,
 * then ext2_block_ok, ext2_iget, dir.c). A program may write to the device while it is mounted, so
 * anything read from a block again after a sleep is checked again. An inconsistency is EIO for the
 * caller, a line on the console, and a mark in the superblock for e2fsck.
 *
 * Left out: reservations, directories' hash trees (they are searched linearly; a change drops the
 * tree, as in Linux's ext2), extended attributes (kept, and freed with the inode), quotas, the
 * flags of chattr, times finer than a second, updates of the copies.
 */
#include "ext2.h"

#include "arch/time.h"
#include "drivers/block.h"
#include "fs/fs_type.h"
#include "fs/gate.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "mm/vmalloc.h"
#include <stdarg.h>

#define ERRORS_TOLD 20u /* lines per mount; a damaged disk could cause thousands */

u32 ext2_now(void)
{
	return clock_realtime_ns() / 1000000000u;
}

int ext2_error(struct super_block *sb, const char *fmt, ...)
{
	struct ext2_fs *fs = ext2_fs(sb);
	char text[128];
	va_list args;

	if (fs->nr_errors++ < ERRORS_TOLD) {
		va_start(args, fmt);
		vsnprintf(text, sizeof(text), fmt, args);
		va_end(args);
		printk("ext2: %s: %s: run e2fsck\n", sb->bdev->name, text);
	}
	if (!sb->read_only) {
		fs->es.state |= EXT2_ERROR;
		ext2_super_dirty(fs);
		if (fs->es.errors == EXT2_ERRORS_READ_ONLY || fs->es.errors == EXT2_ERRORS_PANIC)
			sb->read_only = true;
	}
	return -EIO;
}

/* Marks the superblock to be written. Sets only the fields that the kernel changes, so that what
 * other programs have written to the other fields stays. */
void ext2_super_dirty(struct ext2_fs *fs)
{
	u32 offset = EXT2_SUPER_OFFSET & (fs->sb->block_size - 1);
	struct ext2_super_block *es = (void *)(fs->super.data + offset);

	es->free_blocks = fs->es.free_blocks;
	es->free_inodes = fs->es.free_inodes;
	es->mtime = fs->es.mtime;
	es->wtime = fs->es.wtime;
	es->mnt_count = fs->es.mnt_count;
	es->state = fs->es.state;
	es->ro_compat = fs->es.ro_compat;
	buf_dirty(&fs->super);
}

void ext2_group_dirty(struct ext2_fs *fs, u32 group)
{
	u32 index = group & ((1u << fs->desc_bits) - 1);
	struct buf *block = &fs->desc[group >> fs->desc_bits];
	struct ext2_group *g = (struct ext2_group *)block->data + index;

	g->free_blocks = fs->groups[group].free_blocks;
	g->free_inodes = fs->groups[group].free_inodes;
	g->used_dirs = fs->groups[group].used_dirs;
	ASSERT(!ext2_is_logged(fs->sb) || gate_is_mine());
	buf_dirty(block);
	ext2_super_dirty(fs);
	fs->touched = true;
}

/* Operations of a mounted file system. */

static int ext2_sync(struct super_block *sb)
{
	struct ext2_fs *fs = ext2_fs(sb);

	if (fs->touched && !sb->read_only) {
		fs->touched = false;
		fs->es.wtime = ext2_now();
		ext2_super_dirty(fs);
	}
	return 0;
}

static int ext2_statfs(struct super_block *sb, struct kstatfs *st)
{
	const struct ext2_fs *fs = ext2_fs(sb);

	*st = (struct kstatfs){
		.magic = EXT2_MAGIC,
		.block_size = sb->block_size,
		.blocks = fs->es.blocks_count - fs->overhead,
		.blocks_free = fs->es.free_blocks,
		/* Some are reserved for root; every process is root. */
		.blocks_available = fs->es.free_blocks,
		.files = fs->es.inodes_count,
		.files_free = fs->es.free_inodes,
	};
	return 0;
}

/* Undoes read_blocks, also if that has failed. */
static void release_blocks(struct ext2_fs *fs)
{
	for (u32 i = 0; fs->desc && i < fs->nr_desc; i++)
		if (fs->desc[i].data)
			buf_put(&fs->desc[i]);
	kfree(fs->desc);
	vfree(fs->groups);
	if (fs->super.data)
		buf_put(&fs->super);
	fs->desc = NULL;
	fs->groups = NULL;
	fs->super.data = NULL;
}

static void release(struct ext2_fs *fs)
{
	release_blocks(fs);
	ext2_kept_drop(fs);
	ext2_log_free(fs);
	fs->sb->private = NULL;
	kfree(fs);
}

static int flush(struct super_block *sb)
{
	return ext2_is_logged(sb) ? ext2_log_commit(ext2_fs(sb)) : ext2_flush(sb);
}

/* Writes the superblock alone, after everything else. Returns 0 or -EIO. */
static int write_state(struct ext2_fs *fs, u32 state)
{
	struct super_block *sb = fs->sb;
	int err = flush(sb);

	if (err &&
	    fs->log) /* it may not be called stale before what a replay wrote is on the medium */
		return err;
	if (err || sb->bdev->nr_lost)
		state &= ~EXT2_VALID;
	fs->es.state = state;
	fs->es.wtime = ext2_now();
	ext2_super_dirty(fs);
	return flush(sb);
}

static void mark_unused(struct ext2_fs *fs)
{
	if (!fs->sb->read_only)
		write_state(fs, (fs->state & EXT2_VALID) | (fs->es.state & EXT2_ERROR));
}

/* Marks the disk as in use, and then uses the log. Returns 0, or -EIO if the log cannot be used. */
static int mark_used(struct ext2_fs *fs)
{
	fs->state = fs->es.state;
	if (!(fs->state & EXT2_VALID) || fs->state & EXT2_ERROR)
		printk("ext2: %s: %s: run e2fsck\n", fs->sb->bdev->name,
		       fs->state & EXT2_ERROR ? "errors were found on it" : "was not unmounted");
	fs->es.mnt_count++;
	fs->es.mtime = ext2_now();
	if (write_state(fs, fs->state & ~EXT2_VALID) && fs->log)
		return -EIO;
	if (fs->log)
		ext2_log_start(fs);
	return 0;
}

static int ext2_remount(struct super_block *sb, bool read_only)
{
	struct ext2_fs *fs = ext2_fs(sb);

	if (read_only) {
		mark_unused(fs);
		ext2_log_stop(fs);
		return 0;
	}
	if (sb->bdev->read_only || !ext2_may_write(fs) || (fs->log && fs->log->failed))
		return -EROFS;
	return mark_used(fs);
}

static void ext2_put_super(struct super_block *sb)
{
	mark_unused(ext2_fs(sb));
	ext2_log_stop(ext2_fs(sb));
	release(ext2_fs(sb));
}

static const struct super_operations super_ops = {
	.write_inode = ext2_write_inode,
	.evict_inode = ext2_evict_inode,
	.sync = ext2_sync,
	.flush = flush,
	.statfs = ext2_statfs,
	.put_super = ext2_put_super,
	.remount = ext2_remount,
};

/* Mounting. */

/* Reads the block that is, or contains, the superblock. Returns 0, -EINVAL, -EIO or -ENOMEM. */
static int read_super(struct ext2_fs *fs)
{
	struct super_block *sb = fs->sb;
	u32 log_size;
	struct buf first;
	int err;

	sb->block_bits = 10;
	sb->block_size = 1024;
	err = buf_read(sb, EXT2_SUPER_OFFSET / 1024, &first);
	if (err)
		return err;
	memcpy(&fs->es, first.data, sizeof(fs->es));
	buf_put(&first);
	log_size = fs->es.magic == EXT2_MAGIC ? fs->es.log_block_size : ~0u;
	if (log_size > 2) {
		printk("ext2: %s: cannot be mounted: %s\n", sb->bdev->name,
		       log_size == ~0u ? "no ext2 on it" : "blocks larger than 4 KiB");
		return -EINVAL;
	}
	sb->block_bits = 10 + log_size;
	sb->block_size = 1024u << log_size;
	err = buf_read(sb, EXT2_SUPER_OFFSET / sb->block_size, &fs->super);
	return err ? err : ext2_check_super(fs);
}

/* Pins block i of the group descriptors in its buffer and copies its descriptors to fs. */
static int read_desc(struct ext2_fs *fs, u32 i)
{
	u32 first = i << fs->desc_bits, nr = MIN(fs->nr_groups - first, 1u << fs->desc_bits);
	int err = buf_read(fs->sb, fs->es.first_data_block + 1 + i, &fs->desc[i]);

	if (!err)
		memcpy(&fs->groups[first], fs->desc[i].data, nr * sizeof(*fs->groups));
	return err;
}

static int read_groups(struct ext2_fs *fs)
{
	u32 free_blocks = 0, free_inodes = 0;
	int err;

	fs->desc = kzalloc(fs->nr_desc * sizeof(*fs->desc), GFP_KERNEL | GFP_NORETRY);
	fs->groups = vmalloc(fs->nr_groups * sizeof(*fs->groups), "ext2");
	if (!fs->desc || !fs->groups)
		return -ENOMEM;
	for (u32 i = 0; i < fs->nr_desc; i++) {
		err = read_desc(fs, i);
		if (err)
			return err;
	}
	err = ext2_check_groups(fs);
	if (err)
		return err;
	for (u32 i = 0; i < fs->nr_groups; i++) {
		free_blocks += ext2_group(fs, i)->free_blocks;
		free_inodes += ext2_group(fs, i)->free_inodes;
	}
	/* Other kernels update the sums only occasionally. */
	fs->es.free_blocks = free_blocks;
	fs->es.free_inodes = free_inodes;
	return 0;
}

static int read_blocks(struct ext2_fs *fs)
{
	int err = read_super(fs);

	if (!err)
		err = read_groups(fs);
	if (err)
		return err;
	fs->sb->max_size = MIN(ext2_max_size(fs), CACHE_MAX_SIZE);
	return ext2_iget(fs->sb, EXT2_ROOT_INO, &fs->sb->root);
}

/* Replays the log, and reads everything again. Until then the disk may be inconsistent, so nothing may mark it. */
static int replay(struct ext2_fs *fs)
{
	bool read_only = fs->sb->read_only;
	int found, err;

	fs->sb->read_only = true;
	found = ext2_log_open(fs);
	fs->sb->read_only = read_only;
	ext2_inode_drop(fs->sb->root);
	release_blocks(fs);
	err = found < 0 ? found : read_blocks(fs);
	if (!err && found)
		fs->es.state |= EXT2_VALID;
	return err;
}

static int mount_fs(struct ext2_fs *fs)
{
	int err = read_blocks(fs);

	if (!err && fs->log)
		err = replay(fs);
	if (!err && !fs->sb->read_only) {
		err = mark_used(fs);
		if (err)
			ext2_inode_drop(fs->sb->root);
	}
	return err;
}

static int ext2_mount(struct super_block *sb, const char *options)
{
	struct ext2_fs *fs;
	int err;
	bool redo = options && !strcmp(options, "redo");

	if (options && *options && !redo) {
		printk("ext2: %s: unknown options: %s\n", sb->bdev->name, options);
		return -EINVAL;
	}
	fs = kzalloc(sizeof(*fs), GFP_KERNEL | GFP_NORETRY);
	if (!fs)
		return -ENOMEM;
	fs->sb = sb;
	sb->private = fs;
	sb->ops = &super_ops;
	mutex_init(&fs->lock);
	INIT_LIST_HEAD(&fs->kept);
	err = redo ? ext2_log_alloc(fs) : 0;
	sb->shown = redo ? "redo" : NULL;
	if (!err)
		err = mount_fs(fs);
	if (err)
		release(fs);
	return err;
}

FILE_SYSTEM(ext2_type) = { .name = "ext2", .on_device = true, .mount = ext2_mount };
