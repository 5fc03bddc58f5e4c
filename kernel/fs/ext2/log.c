/*
 * The log of a mounted ext2: what a transaction is, and when one is committed. redo.c says how.
 *
 *	mount -t ext2 -o redo /dev/sda /mnt
 *
 * Without a log, a system call's changes of metadata reach the disk in part if the power fails, and e2fsck
 * repairs the rest. With a log they are atomic: after the next mount, e2fsck has nothing to repair. All
 * metadata blocks that are dirty are a transaction. A commit first writes copies of them to the log, and
 * then the blocks to their home positions; if the power fails in between, the next mount writes the copies
 * home once more (write-ahead redo logging: Gray and Reuter, Transaction Processing, 1993; for a file
 * system Hagmann, Reimplementing the Cedar File System Using Logging and Group Commit, 1987).
 *
 * The log is a file of the disk, /redo.log, without holes. So Linux and e2fsck know the disk as ext2. Its
 * blocks are looked up at mount and never move, because the file can be neither written nor removed while
 * it is in use (INODE_SWAP).
 *
 * What a commit must not see is a call half done. So each call that changes files is inside the gate
 * (fs/gate.c), and a commit closes it. When a call ends, its inodes are written into their blocks in
 * memory; so the dirty blocks are consistent when no call is inside. Until a commit they stay in memory:
 * neither the flusher nor reclaim writes them home (no steal: buf_hold).
 *
 * A commit happens when a program asks for it (fsync, sync), when the flusher finds the disk's metadata
 * old, and before a call begins while the log might have no room for what the call changes. A single call
 * that is too large for the log is written without it, which is not atomic, and a line says so.
 *
 * Because a call is atomic, nothing is flushed in the middle of a call, and order.c is not needed. One of its
 * rules stays: what was freed is not reused before the commit that frees it (freed.c).
 *
 * Data are not logged. An fsync writes a file's data before the commit.
 *
 * A log of a former mount must not be replayed over later changes, also if Linux or e2fsck made them. A
 * mount to write changes the superblock's mtime and mnt_count, before it uses the log, and a transaction
 * holds them (redo.c).
 *
 * If a commit fails, the file system becomes read-only, and its changes since then are dropped at unmount:
 * the log may hold what has not reached its home, so it must not be overwritten. The next mount replays it.
 *
 * Left out: more than one transaction at a time; a list of files that were unlinked while open, which e2fsck
 * frees after a cut (ext3's list of orphans); the order of data and of metadata that no fsync follows.
 */
#include "ext2.h"

#include "drivers/block.h"
#include "fs/gate.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "mm/slab.h"

#define LOG_NAME "redo.log"
#define MIN_BLOCKS 32u
#define CALL_BLOCKS 16u /* changed by a call at most, without bitmaps of blocks that it frees */
#define TRIES 3u

static LIST_HEAD(logs); /* of those that are in use */

/* For redo.c. */

static u32 per_page(const struct super_block *sb)
{
	return PAGE_SIZE >> sb->block_bits;
}

void *ext2_log_block(const struct ext2_fs *fs, u32 i)
{
	u32 n = per_page(fs->sb);

	return fs->log->memory[i / n] + (i % n << fs->sb->block_bits);
}

/* Moves blocks of the log, those together that are consecutive on the disk. */
static int move_blocks(struct ext2_fs *fs, u32 first, u32 nr, bool write)
{
	const struct ext2_log *log = fs->log;
	u32 end = first + nr, n;
	int err = 0;

	ASSERT(end <= log->nr);
	for (; first < end && !err; first += n) {
		for (n = 1; first + n < end && log->block[first + n] == log->block[first] + n;)
			n++;
		err = buf_move(fs->sb, log->block[first], n, log->memory, first, write);
	}
	return err;
}

int ext2_log_write(struct ext2_fs *fs, u32 first, u32 nr)
{
	return move_blocks(fs, first, nr, true);
}

int ext2_log_read(struct ext2_fs *fs, u32 first, u32 nr)
{
	return move_blocks(fs, first, nr, false);
}

int ext2_write_home(struct ext2_fs *fs)
{
	int err;

	buf_hold(fs->sb->bdev, false);
	err = buf_sync_all(fs->sb->bdev);
	buf_hold(fs->sb->bdev, fs->sb->log);
	return err;
}

/* Committing. The gate is closed. */

static u32 nr_dirty(struct super_block *sb)
{
	struct buf b;
	u32 nr = 0;

	for (u32 from = 0; buf_next_dirty(sb, from, &b); from = b.block + 1, nr++)
		buf_put(&b);
	return nr;
}

static int write_in_place(struct ext2_fs *fs, u32 nr)
{
	int err, err2;

	printk("ext2: %s: %u blocks at once are too many for the log: not atomic\n",
	       fs->sb->bdev->name, nr);
	err = ext2_write_home(fs);
	err2 = block_flush(fs->sb->bdev);
	return err ? err : err2;
}

static int commit_blocks(struct ext2_fs *fs)
{
	u32 nr = nr_dirty(fs->sb);
	int err = nr <= ext2_redo_capacity(fs) ? ext2_redo_commit(fs) : write_in_place(fs, nr);

	if (!err)
		return 0;
	printk("ext2: %s: the log cannot be written: read-only from now on\n", fs->sb->bdev->name);
	fs->log->failed = true;
	fs->sb->read_only = true;
	return err;
}

/* Writes dirty inodes into their blocks, until `room` blocks are dirty. Returns 0 or -errno. */
static int write_inodes(struct ext2_fs *fs, u32 room)
{
	struct super_block *sb = fs->sb;
	int err = 0;

	fs->log->writing_inodes = true;
	while (!err && !list_empty(&sb->dirty) && nr_dirty(sb) < room)
		err = inode_write_first(sb);
	fs->log->writing_inodes = false;
	return err;
}

/* Inodes that only have other times or modes may be too many for one transaction. Writing an inode may drop its
 * last reference, and so free something. */
static int commit(struct ext2_fs *fs)
{
	int err = fs->log->failed ? -EIO : ext2_freed_apply(fs);

	do {
		if (!err)
			err = write_inodes(fs, ext2_redo_capacity(fs));
		if (!err)
			err = ext2_freed_apply(fs);
		if (!err)
			err = commit_blocks(fs);
	} while (!err && !list_empty(&fs->sb->dirty));
	return err;
}

int ext2_log_commit(struct ext2_fs *fs)
{
	int err;

	gate_close();
	err = commit(fs);
	gate_open();
	return err;
}

/* For the flusher, and for fsync of the device's file. A file system may be unmounted until the gate is closed. */
static void commit_device(struct inode *device)
{
	struct ext2_log *log;

	gate_close();
	list_for_each_entry(log, &logs, node)
		if (log->fs->sb->bdev->inode == device && commit(log->fs))
			device->cache.errors++;
	gate_open();
}

/* Calls. */

/* May the log have no room for the calls that are inside and this one? */
static bool is_crowded(struct ext2_fs *fs)
{
	u32 nr = nr_dirty(fs->sb), room = ext2_redo_capacity(fs);
	const struct inode *inode;

	list_for_each_entry(inode, &fs->sb->dirty, dirty)
		if (nr++ >= room)
			break;
	return nr && nr + gate_nr_inside() * (CALL_BLOCKS + fs->nr_groups) > room;
}

static void begin(struct super_block *sb)
{
	bool inside = gate_is_mine();

	gate_enter();
	for (u32 n = 0; !inside && n < TRIES && is_crowded(ext2_fs(sb)); n++) {
		gate_leave();
		ext2_log_commit(ext2_fs(sb));
		gate_enter();
	}
}

static bool end(struct super_block *sb, int err)
{
	struct ext2_fs *fs = ext2_fs(sb);

	/* If it fails, the inode stays dirty, and the commit tries again. A task that does it already is inside. */
	if (!fs->log->writing_inodes)
		write_inodes(fs, ~0u);
	gate_leave();
	if (err != -ENOSPC || gate_is_mine() || !ext2_is_freed(fs->log))
		return false;
	return !ext2_log_commit(fs);
}

static const struct log_operations log_ops = { .begin = begin, .end = end };

void ext2_log_start(struct ext2_fs *fs)
{
	cache_commit = commit_device;
	list_add(&fs->log->node, &logs);
	fs->sb->log = &log_ops;
	buf_hold(fs->sb->bdev, true);
}

void ext2_log_stop(struct ext2_fs *fs)
{
	struct block_device *bdev = fs->sb->bdev;

	if (!fs->sb->log)
		return;
	gate_close();
	if (fs->sb->read_only && !fs->log->failed)
		commit(fs); /* an error has made it read-only, so that nothing was committed since */
	list_del(&fs->log->node);
	fs->sb->log = NULL;
	buf_hold(bdev, false);
	if (fs->log->failed)
		bdev->nr_lost += buf_lose_all(bdev);
	gate_open();
}

/* Mounting. */

static int refuse(struct ext2_fs *fs, const char *why)
{
	printk("ext2: %s: cannot be mounted with redo: /" LOG_NAME " %s\n", fs->sb->bdev->name,
	       why);
	return -EINVAL;
}

/* Stores the inode of the log's file, with a reference. */
static int find_file(struct ext2_fs *fs, struct inode **inode)
{
	const struct path_name name = { .s = LOG_NAME, .len = sizeof(LOG_NAME) - 1 };
	struct ext2_slot slot;
	int err = ext2_find(fs->sb->root, &name, &slot);

	if (err)
		return err == -ENOENT ? refuse(fs, "is missing") : err;
	fs->log->ino = slot.entry->inode;
	buf_put(&slot.buf);
	return ext2_iget(fs->sb, fs->log->ino, inode);
}

static int find_blocks(struct ext2_fs *fs, struct inode *inode)
{
	struct ext2_log *log = fs->log;
	u32 bits = fs->sb->block_bits - SECTOR_SHIFT;
	struct extent e;

	if (ext2_kind(inode) != S_IFREG || inode->size >> fs->sb->block_bits < MIN_BLOCKS)
		return refuse(fs, "is not a file of 32 blocks or more");
	log->nr = MIN(inode->size >> fs->sb->block_bits, (u64)EXT2_LOG_BLOCKS);
	for (u32 i = 0; i < log->nr; i++) {
		int err = ext2_map(inode, i, 1, false, &e);

		if (err)
			return err;
		if (!e.sector)
			return refuse(fs, "has a hole");
		log->block[i] = e.sector >> bits;
	}
	return 0;
}

static int get_memory(struct ext2_fs *fs)
{
	u32 nr = (fs->log->nr + per_page(fs->sb) - 1) / per_page(fs->sb);

	for (u32 i = 0; i < nr; i++) {
		fs->log->memory[i] = kzalloc(PAGE_SIZE, GFP_KERNEL | GFP_NORETRY);
		if (!fs->log->memory[i])
			return -ENOMEM;
	}
	return 0;
}

int ext2_log_open(struct ext2_fs *fs)
{
	struct inode *inode;
	int err = find_file(fs, &inode);

	if (err)
		return err;
	err = find_blocks(fs, inode);
	ext2_inode_drop(inode);
	if (!err)
		err = get_memory(fs);
	if (!err)
		err = ext2_redo_replay(fs);
	return err;
}

int ext2_log_alloc(struct ext2_fs *fs)
{
	fs->log = kzalloc(sizeof(*fs->log), GFP_KERNEL | GFP_NORETRY);
	if (!fs->log)
		return -ENOMEM;
	fs->log->fs = fs;
	return 0;
}

void ext2_log_free(struct ext2_fs *fs)
{
	for (u32 i = 0; fs->log && i < EXT2_LOG_BLOCKS; i++)
		kfree(fs->log->memory[i]);
	kfree(fs->log);
}
