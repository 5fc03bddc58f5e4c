/* No table: each copy has a sector before it with its position and its number, and they form a chain. The last
 * block of the log is the trailer; it has the checksum. */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"

#define MAGIC 0x7461696cu

struct tail {
	u32 magic, mtime, mnt_count, nr;
	u32 low, high; /* Adler's checksum, with larger sums */
};

struct mark {
	u32 home, next; /* next: the number of the following copy; 0: none */
};

static struct tail *tail_of(const struct ext2_fs *fs)
{
	return ext2_log_block(fs, fs->log->nr - 1);
}

u32 ext2_redo_capacity(const struct ext2_fs *fs)
{
	return (fs->log->nr - 1) / 2;
}

static void sum_up(const struct ext2_fs *fs, u32 nr, u32 *low, u32 *high)
{
	*low = 1;
	*high = 0;
	for (u32 i = 0; i < 2 * nr; i++) {
		const u32 *word = ext2_log_block(fs, i);

		for (u32 n = 0; n < fs->sb->block_size / sizeof(u32); n++) {
			*low += word[n];
			*high += *low * 2654435761u;
		}
	}
}

int ext2_redo_commit(struct ext2_fs *fs)
{
	struct tail *t = tail_of(fs);
	u32 nr = 0;
	struct buf b;
	int err;

	for (u32 from = 0; buf_next_dirty(fs->sb, from, &b); from = b.block + 1, nr++) {
		struct mark *m = ext2_log_block(fs, 2 * nr);

		memset(m, 0, fs->sb->block_size);
		*m = (struct mark){ b.block, nr + 1 };
		memcpy(ext2_log_block(fs, 2 * nr + 1), b.data, b.size);
		buf_put(&b);
	}
	err = block_flush(fs->sb->bdev);
	if (err || !nr)
		return err;
	((struct mark *)ext2_log_block(fs, 2 * nr - 2))->next = 0;
	memset(t, 0, fs->sb->block_size);
	*t = (struct tail){
		.magic = MAGIC, .mtime = fs->es.mtime, .mnt_count = fs->es.mnt_count, .nr = nr
	};
	sum_up(fs, nr, &t->low, &t->high);
	err = ext2_log_write(fs, 0, 2 * nr);
	if (!err)
		err = ext2_log_write(fs, fs->log->nr - 1, 1);
	if (!err)
		err = block_flush(fs->sb->bdev);
	return err ? err : ext2_write_home(fs);
}

int ext2_redo_replay(struct ext2_fs *fs)
{
	const struct tail *t = tail_of(fs);
	const struct mark *m = ext2_log_block(fs, 0);
	u32 low, high, at = 0;
	struct buf b;
	int err = ext2_log_read(fs, 0, fs->log->nr);

	if (err || t->magic != MAGIC || t->mtime != fs->es.mtime ||
	    t->mnt_count != fs->es.mnt_count || t->nr > ext2_redo_capacity(fs))
		return err;
	sum_up(fs, t->nr, &low, &high);
	if (low != t->low || high != t->high)
		return 0;
	do {
		m = ext2_log_block(fs, 2 * at);
		if (m->home >= fs->es.blocks_count || buf_read(fs->sb, m->home, &b))
			return -EIO;
		memcpy(b.data, ext2_log_block(fs, 2 * at + 1), b.size);
		buf_dirty(&b);
		buf_put(&b);
		at = m->next;
	} while (at && at < t->nr);
	err = ext2_write_home(fs);
	return err ? err : 1;
}
