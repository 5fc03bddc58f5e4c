/*
 * With a log: blocks and inodes that were freed since the last commit.
 *
 * They must not be used again before the commit that frees them. Until then the file that had them is still on
 * the disk, and a power cut brings it back; but data are written in place, so they would have destroyed it.
 * So the bits of what is freed stay set, and the freed runs are remembered. A commit clears their bits at its
 * beginning. If a call finds nothing free but these, it fails, and is tried again after a commit.
 *
 * The runs have a fixed number of places, so that freeing needs no memory. If all are taken, bits are cleared at
 * once, and nothing is allocated until the commit.
 */
#include "ext2.h"

bool ext2_freed_later(struct ext2_fs *fs, enum ext2_freed_kind kind, u32 group, u32 bit, u32 count)
{
	struct ext2_log *log = fs->log;
	struct ext2_freed *last;

	if (!ext2_is_logged(fs->sb) || log->freeing)
		return false;
	last = log->nr_freed ? &log->freed[log->nr_freed - 1] : NULL;
	if (last && kind == EXT2_FREED_BLOCKS && last->kind == kind && last->group == group &&
	    last->bit + last->count == bit) {
		last->count += count;
		return true;
	}
	if (log->nr_freed == ARRAY_SIZE(log->freed)) {
		log->is_full = true;
		return false;
	}
	log->freed[log->nr_freed++] = (struct ext2_freed){ kind, group, bit, count };
	return true;
}

bool ext2_is_freed(const struct ext2_log *log)
{
	return log->nr_freed || log->is_full;
}

static void free_now(struct ext2_fs *fs, const struct ext2_freed *f)
{
	if (f->kind == EXT2_FREED_BLOCKS)
		ext2_free_blocks(fs, ext2_group_first(fs, f->group) + f->bit, f->count);
	else
		ext2_free_inode(fs, f->group * fs->es.inodes_per_group + f->bit + 1,
				f->kind == EXT2_FREED_DIR);
}

int ext2_freed_apply(struct ext2_fs *fs)
{
	struct ext2_log *log = fs->log;

	log->freeing = true;
	for (; log->nr_freed; log->nr_freed--) {
		const struct ext2_freed *f = &log->freed[log->nr_freed - 1];
		const struct ext2_group *g = ext2_group(fs, f->group);
		struct buf map; /* held, so that it need not be read again */
		int err = buf_read(fs->sb,
				   f->kind == EXT2_FREED_BLOCKS ? g->block_bitmap : g->inode_bitmap,
				   &map);

		if (err) {
			log->freeing = false;
			return err;
		}
		free_now(fs, f);
		buf_put(&map);
	}
	log->freeing = log->is_full = false;
	return 0;
}
