/* A checksum for each block, beside its position, and one for the header. */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"

#define MAGIC 0x73756d73u

struct entry {
	u32 home, sum;
};

struct head {
	u32 magic, mtime, mnt_count, nr, sum;
	struct entry entry[];
};

static u32 sum_of(const struct ext2_fs *fs, u32 block)
{
	const u8 *at = ext2_log_block(fs, block);
	u32 sum = 1;

	for (u32 i = 0; i < fs->sb->block_size; i++)
		sum = sum * 31 + at[i] + (sum >> 27);
	return sum;
}

u32 ext2_redo_capacity(const struct ext2_fs *fs)
{
	return MIN(fs->log->nr - 1,
		   (fs->sb->block_size - sizeof(struct head)) / sizeof(struct entry));
}

int ext2_redo_commit(struct ext2_fs *fs)
{
	struct head *h = ext2_log_block(fs, 0);
	struct buf b;
	int err = block_flush(fs->sb->bdev);

	memset(h, 0, fs->sb->block_size);
	for (u32 from = 0; !err && buf_next_dirty(fs->sb, from, &b); from = b.block + 1) {
		memcpy(ext2_log_block(fs, h->nr + 1), b.data, b.size);
		h->entry[h->nr] = (struct entry){ b.block, sum_of(fs, h->nr + 1) };
		h->nr++;
		buf_put(&b);
	}
	if (err || !h->nr)
		return err;
	h->magic = MAGIC;
	h->mtime = fs->es.mtime;
	h->mnt_count = fs->es.mnt_count;
	h->sum = sum_of(fs, 0);
	err = ext2_log_write(fs, 0, h->nr + 1);
	err = err ? err : block_flush(fs->sb->bdev);
	return err ? err : ext2_write_home(fs);
}

static bool is_whole(struct ext2_fs *fs, struct head *h)
{
	u32 sum = h->sum;

	h->sum = 0;
	if (h->magic != MAGIC || h->nr > ext2_redo_capacity(fs) || sum_of(fs, 0) != sum)
		return false;
	if (h->mtime != fs->es.mtime || h->mnt_count != fs->es.mnt_count)
		return false;
	for (u32 i = 0; i < h->nr; i++)
		if (h->entry[i].home >= fs->es.blocks_count || sum_of(fs, i + 1) != h->entry[i].sum)
			return false;
	return true;
}

int ext2_redo_replay(struct ext2_fs *fs)
{
	struct head *h = ext2_log_block(fs, 0);
	struct buf b;
	int err = ext2_log_read(fs, 0, fs->log->nr);

	if (err || !is_whole(fs, h))
		return err;
	for (u32 i = h->nr; i-- > 0;) {
		err = buf_read(fs->sb, h->entry[i].home, &b);
		if (err)
			return err;
		memcpy(b.data, ext2_log_block(fs, i + 1), b.size);
		buf_dirty(&b);
		buf_put(&b);
	}
	err = ext2_write_home(fs);
	return err ? err : 1;
}
