/* Two halves, used in turn, and a commit record: the copies are flushed before the record is written, so no
 * checksum of them is needed. The last transaction's blocks are at home when its half is used again. */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"

#define MAGIC 0x636f6d6du

struct head {
	u32 magic, mtime, mnt_count, sequence, nr;
	u32 home[];
};

static u32 half(const struct ext2_fs *fs)
{
	return fs->log->nr / 2;
}

/* The record is the first block of a half, and only its first sector counts: all positions must fit into it. */
u32 ext2_redo_capacity(const struct ext2_fs *fs)
{
	return MIN(half(fs) - 1, (512 - sizeof(struct head)) / sizeof(u32));
}

int ext2_redo_commit(struct ext2_fs *fs)
{
	u32 at = (fs->log->sequence & 1) * half(fs);
	struct head *h = ext2_log_block(fs, at);
	struct buf b;
	int err;

	memset(h, 0, fs->sb->block_size);
	for (u32 from = 0; buf_next_dirty(fs->sb, from, &b); from = b.block + 1) {
		h->home[h->nr] = b.block;
		memcpy(ext2_log_block(fs, at + ++h->nr), b.data, b.size);
		buf_put(&b);
	}
	err = h->nr ? ext2_log_write(fs, at + 1, h->nr) : 0;
	if (!err)
		err = block_flush(fs->sb->bdev);
	if (err || !h->nr)
		return err;
	h->magic = MAGIC;
	h->mtime = fs->es.mtime;
	h->mnt_count = fs->es.mnt_count;
	h->sequence = ++fs->log->sequence;
	err = ext2_log_write(fs, at, 1);
	if (!err)
		err = block_flush(fs->sb->bdev);
	return err ? err : ext2_write_home(fs);
}

static bool is_whole(const struct ext2_fs *fs, const struct head *h)
{
	if (h->magic != MAGIC || h->mtime != fs->es.mtime || h->mnt_count != fs->es.mnt_count)
		return false;
	if (!h->sequence || h->nr > ext2_redo_capacity(fs))
		return false;
	for (u32 i = 0; i < h->nr; i++)
		if (h->home[i] >= fs->es.blocks_count)
			return false;
	return true;
}

int ext2_redo_replay(struct ext2_fs *fs)
{
	struct head *first = ext2_log_block(fs, 0), *second = ext2_log_block(fs, half(fs));
	u32 at = 0;
	struct buf b;
	int err = ext2_log_read(fs, 0, fs->log->nr);

	if (err)
		return err;
	if (!is_whole(fs, first) && !is_whole(fs, second))
		return 0;
	if (!is_whole(fs, first) || (is_whole(fs, second) && second->sequence > first->sequence)) {
		at = half(fs);
		first = second;
	}
	for (u32 i = 0; i < first->nr; i++) {
		err = buf_new(fs->sb, first->home[i], &b);
		if (err)
			return err;
		memcpy(b.data, ext2_log_block(fs, at + 1 + i), b.size);
		buf_put(&b);
	}
	err = ext2_write_home(fs);
	return err ? err : 1;
}
