/*
 * The contents of ext2's log: a transaction, from the call of fsync to the next mount.
 *
 * The log holds one transaction: a header, and behind it copies of all blocks of metadata that were dirty.
 *
 *	| header: mount, number, home positions, checksum | copy | copy | ...
 *
 * The disk writes sectors in any order, and only a flush is a border. A commit has four steps:
 *
 *	flush		all earlier writes are on the medium: data, and the last transaction's blocks at home
 *	write the log
 *	flush		the transaction is durable: from now on a replay completes it
 *	write home	the blocks themselves, to the positions in the header
 *
 * The first flush permits the second step: it overwrites the last transaction, whose blocks must be at home
 * by then. The second one permits the last step: if the power fails while blocks are written home, the
 * disk holds some old ones and some new ones, and only the log can tell what belongs together. Data that an
 * fsync has written are on the medium before the metadata that point to them.
 *
 * Header and copies are written in any order, without a flush between them. If only some of their
 * sectors are on the medium, the checksum over all of them is wrong, and the log counts as empty. Nothing is
 * lost: no block of that transaction has been written home, and its fsync has not returned.
 *
 * A replay writes all copies home. It may be repeated, if the power fails meanwhile: it reads nothing but
 * the log, which stays as it is until the mount has flushed what the replay wrote, and then changed mtime
 * and mnt_count in the superblock (super.c). From then on the transaction is stale, as is any other one that
 * does not have these two numbers: Linux, e2fsck or a mount without redo may have changed the disk since. Both
 * lie in one sector, and are the same during a mount.
 *
 * Nothing on the disk is trusted: the number and the positions are checked before they are used.
 *
 * Sources: Gray and Reuter, Transaction Processing, 1993; Prabhakaran and others, IRON File Systems, 2005, for
 * the checksum in place of a flush.
 */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"

/* lab: header */
#define MAGIC 0x6f646572u /* "redo" */

struct header {
	u32 magic;
	u32 mtime, mnt_count; /* of the mount */
	u32 nr;       /* of copies */
	u32 checksum; /* of header and copies, with 0 here */
	u32 home[];
};

u32 ext2_redo_capacity(const struct ext2_fs *fs)
{
	u32 room = (fs->sb->block_size - sizeof(struct header)) / sizeof(u32);

	return MIN(fs->log->nr - 1, room);
}

/* FNV-1a of the first nr blocks of the log. */
static u32 checksum(const struct ext2_fs *fs, u32 nr)
{
	u32 sum = 2166136261u;

	for (u32 i = 0; i < nr; i++) {
		const u8 *bytes = ext2_log_block(fs, i);

		for (u32 n = 0; n < fs->sb->block_size; n++)
			sum = (sum ^ bytes[n]) * 16777619u;
	}
	return sum;
}
/* lab: end */

/* lab: commit */
/* Copies all dirty blocks to the log's memory, and fills the header. Returns their number. */
static u32 collect(struct ext2_fs *fs)
{
	struct header *h = ext2_log_block(fs, 0);
	struct buf b;

	memset(h, 0, fs->sb->block_size);
	h->magic = MAGIC;
	h->mtime = fs->es.mtime;
	h->mnt_count = fs->es.mnt_count;
	for (u32 from = 0; buf_next_dirty(fs->sb, from, &b); from = b.block + 1) {
		h->home[h->nr++] = b.block;
		memcpy(ext2_log_block(fs, h->nr), b.data, b.size);
		buf_put(&b);
	}
	h->checksum = checksum(fs, 1 + h->nr);
	return h->nr;
}

int ext2_redo_commit(struct ext2_fs *fs)
{
	u32 nr = collect(fs);
	int err = block_flush(fs->sb->bdev);

	if (err || !nr)
		return err;
	err = ext2_log_write(fs, 0, 1 + nr);
	if (!err)
		err = block_flush(fs->sb->bdev);
	return err ? err : ext2_write_home(fs);
}
/* lab: end */

/* lab: replay */
/* Reads the copies. Returns their number, 0 if the transaction is torn or wrong, or -EIO. */
static int read_copies(struct ext2_fs *fs)
{
	struct header *h = ext2_log_block(fs, 0);
	u32 sum = h->checksum;
	int err;

	if (h->nr > ext2_redo_capacity(fs))
		return 0;
	err = ext2_log_read(fs, 1, h->nr);
	h->checksum = 0;
	if (err || checksum(fs, 1 + h->nr) != sum)
		return err;
	for (u32 i = 0; i < h->nr; i++)
		if (h->home[i] < fs->es.first_data_block || h->home[i] >= fs->es.blocks_count)
			return 0;
	return h->nr;
}

static int write_copies(struct ext2_fs *fs, u32 nr)
{
	const struct header *h = ext2_log_block(fs, 0);
	struct buf b;
	int err;

	for (u32 i = 0; i < nr; i++) {
		err = buf_read(fs->sb, h->home[i], &b);
		if (err)
			return err;
		memcpy(b.data, ext2_log_block(fs, 1 + i), b.size);
		buf_dirty(&b);
		buf_put(&b);
	}
	return ext2_write_home(fs);
}

int ext2_redo_replay(struct ext2_fs *fs)
{
	const struct header *h = ext2_log_block(fs, 0);
	int err = ext2_log_read(fs, 0, 1), nr;

	if (err)
		return err;
	if (h->magic != MAGIC || h->mtime != fs->es.mtime || h->mnt_count != fs->es.mnt_count)
		return 0;
	nr = read_copies(fs);
	err = nr > 0 ? write_copies(fs, nr) : nr;
	return err ? err : 1;
}
/* lab: end */
