/* A ring: each transaction begins behind the last one, if there is room, and the replay takes the latest one. */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"

#define MAGIC 0x72696e67u

struct head {
	u32 magic, mtime, mnt_count, sequence, nr, sum;
	u32 home[];
};

/* CRC-32, bit by bit. */
static u32 crc(const struct ext2_fs *fs, u32 at, u32 nr)
{
	u32 sum = ~0u;

	for (u32 i = at; i < at + nr; i++) {
		const u8 *bytes = ext2_log_block(fs, i);

		for (u32 n = 0; n < fs->sb->block_size; n++) {
			sum ^= bytes[n];
			for (u32 bit = 0; bit < 8; bit++)
				sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
		}
	}
	return ~sum;
}

u32 ext2_redo_capacity(const struct ext2_fs *fs)
{
	u32 fit = (fs->sb->block_size - sizeof(struct head)) / sizeof(u32);

	return fs->log->nr - 1 < fit ? fs->log->nr - 1 : fit;
}

static u32 count(struct ext2_fs *fs)
{
	struct buf b;
	u32 nr = 0;

	for (u32 from = 0; buf_next_dirty(fs->sb, from, &b); from = b.block + 1, nr++)
		buf_put(&b);
	return nr;
}

static void fill(struct ext2_fs *fs, u32 at)
{
	struct head *h = ext2_log_block(fs, at);
	struct buf b;

	memset(h, 0, fs->sb->block_size);
	*h = (struct head){ .magic = MAGIC,
			    .mtime = fs->es.mtime,
			    .mnt_count = fs->es.mnt_count,
			    .sequence = ++fs->log->sequence };
	for (u32 from = 0; buf_next_dirty(fs->sb, from, &b); from = b.block + 1) {
		h->home[h->nr++] = b.block;
		memcpy(ext2_log_block(fs, at + h->nr), b.data, b.size);
		buf_put(&b);
	}
	h->sum = crc(fs, at, 1 + h->nr);
}

int ext2_redo_commit(struct ext2_fs *fs)
{
	u32 nr = count(fs), at;
	int err = block_flush(fs->sb->bdev);

	if (err || !nr)
		return err;
	if (fs->log->at + 1 + nr > fs->log->nr)
		fs->log->at = 0;
	at = fs->log->at;
	fill(fs, at);
	err = ext2_log_write(fs, at, 1 + nr);
	if (!err)
		err = block_flush(fs->sb->bdev);
	if (err)
		return err;
	fs->log->at += 1 + nr;
	return ext2_write_home(fs);
}

static bool is_whole(const struct ext2_fs *fs, u32 at)
{
	struct head *h = ext2_log_block(fs, at);
	u32 sum = h->sum;
	bool whole;

	if (h->magic != MAGIC || h->mtime != fs->es.mtime || h->mnt_count != fs->es.mnt_count ||
	    h->nr > fs->log->nr - at - 1 || h->nr > ext2_redo_capacity(fs))
		return false;
	h->sum = 0;
	whole = crc(fs, at, 1 + h->nr) == sum;
	h->sum = sum;
	for (u32 i = 0; whole && i < h->nr; i++)
		whole = h->home[i] < fs->es.blocks_count;
	return whole;
}

int ext2_redo_replay(struct ext2_fs *fs)
{
	const struct head *best = NULL;
	u32 from = 0;
	struct buf b;
	int err = ext2_log_read(fs, 0, fs->log->nr);

	for (u32 at = 0; !err && at < fs->log->nr; at++) {
		const struct head *h = ext2_log_block(fs, at);

		if (!is_whole(fs, at) || (best && best->sequence > h->sequence))
			continue;
		best = h;
		from = at;
	}
	if (err || !best)
		return err;
	for (u32 i = 0; i < best->nr; i++) {
		err = buf_read(fs->sb, best->home[i], &b);
		if (err)
			return err;
		memcpy(b.data, ext2_log_block(fs, from + 1 + i), b.size);
		buf_dirty(&b);
		buf_put(&b);
	}
	err = ext2_write_home(fs);
	return err ? err : 1;
}
