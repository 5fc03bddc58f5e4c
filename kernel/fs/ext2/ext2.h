/* What the files of ext2 share. */
#ifndef FS_EXT2_EXT2_H
#define FS_EXT2_EXT2_H

#include "disk.h"
#include "errno.h"
#include "fs/vfs.h"
#include "mm/cache.h"

/*
 * A mounted file system: super_block.private. The kernel computes with copies of superblock and
 * descriptors, which were checked at mount: the blocks are in pages that programs can write to.
 */
struct ext2_fs {
	struct super_block *sb;
	struct ext2_super_block es;
	struct ext2_group *groups;
	struct buf super, *desc; /* the blocks of both, held while it is mounted */
	u32 nr_groups, nr_desc;  /* blocks of descriptors */
	u32 desc_bits; /* log2 of the descriptors in a block */
	u32 inode_size, first_ino, table_blocks;
	u32 overhead;  /* blocks that hold no files */
	u32 addr_bits; /* log2 of the addresses in a block */
	u16 state;     /* as it was found */
	u32 nr_errors; /* found since */
	u32 flushes_begun,
		flushed; /* numbers of flushes: the last begun, the last that succeeded */
	struct list_head kept;      /* kept.c: bitmaps as they were before things were freed */
	u32 named_before; /* link.c: the first flush that has all further names that files got */
	u32 freed_before; /* the first flush that has all that was freed */
	bool not_kept;    /* there was no memory for a copy */
	u32 table_window; /* inode.c: pages of a table that were read together last */
	bool touched;  /* the superblock's times are due */
	struct mutex lock; /* bitmaps, counts, and every file's tree of blocks */
};

/* inode.private */
struct ext2_info {
	struct ext2_inode raw; /* slots, flags and what else the inode has no field for */
	u32 goal;  /* where the file's next block should be; 0: no idea */
	u32 cuts;  /* how often blocks were taken from it */
	u32 cursor; /* a directory's: iterate gave it last, and an entry or a block begins there */
};

static inline struct ext2_fs *ext2_fs(const struct super_block *sb)
{
	return sb->private;
}

static inline struct ext2_info *ext2_info(const struct inode *inode)
{
	return inode->private;
}

static inline struct ext2_group *ext2_group(const struct ext2_fs *fs, u32 group)
{
	return &fs->groups[group];
}

static inline u32 ext2_kind(const struct inode *inode)
{
	return inode->mode & S_IFMT;
}

/* super.c */
/* Says that the disk contradicts itself; it is marked so, and turned read-only if it wants that.
 * -EIO. */
int ext2_error(struct super_block *sb, const char *fmt, ...) __printf(2, 3);
/* The copy of the superblock, or of it and of a descriptor, has changed. */
void ext2_super_dirty(struct ext2_fs *fs);
void ext2_group_dirty(struct ext2_fs *fs, u32 group);
u32 ext2_now(void); /* seconds since 1970 */

/* layout.c: where things lie. */
u32 ext2_group_first(const struct ext2_fs *fs, u32 group); /* its first block */
u32 ext2_group_blocks(const struct ext2_fs *fs, u32 group);
u32 ext2_group_of(const struct ext2_fs *fs, u32 block);
/* May a file have this block: is it in range and none of the file system's own? */
bool ext2_block_ok(struct ext2_fs *fs, u32 block);
/* How many of count blocks from first on may be a file's: up to a group's end at most; 0: none. */
u32 ext2_blocks_ok(struct ext2_fs *fs, u32 first, u32 count);
/* Checks the superblock, fills in what follows from it: 0 or -EINVAL, with a line that says why. */
int ext2_check_super(struct ext2_fs *fs);
/* Are there no features that only a newer kernel may write? False, and a line that says so. */
bool ext2_may_write(const struct ext2_fs *fs);
int ext2_check_groups(struct ext2_fs *fs);

/* bitmap.c */
bool ext2_bit(const void *map, u32 bit);
void ext2_bits_set(void *map, u32 from, u32 count);
/* The first zero in [from, end), or end. */
u32 ext2_bits_find(const void *map, u32 from, u32 end);
/* The first of `count` zeros at a multiple of count (8, 64) in [from, end), or end. */
u32 ext2_bits_find_run(const void *map, u32 from, u32 end, u32 count);

/* kept.c: what was freed since the last flush. fs->lock is held, but for the flush. */
/* Before bits of a bitmap are cleared. May sleep. */
void ext2_keep(struct ext2_fs *fs, const struct buf *map);
/* The bitmap in which only that is free which may be given. Until the caller sleeps. */
const void *ext2_kept(const struct ext2_fs *fs, const struct buf *map);
/* Bits that are given. */
void ext2_take(struct ext2_fs *fs, struct buf *map, u32 bit, u32 count);
/* Before something is given: 0 or -EIO. May sleep. */
int ext2_flush_kept(struct ext2_fs *fs);
/* Nothing else is free: 0: more may be now; -ENOSPC: no; -EIO. May sleep. */
int ext2_give_kept(struct ext2_fs *fs);
void ext2_kept_drop(struct ext2_fs *fs);
/* All metadata that are dirty now are on the medium afterwards: 0 or -EIO. May sleep. */
int ext2_flush(struct super_block *sb);

/* balloc.c and ialloc.c: may sleep; fs->lock is held. */
/* Up to *count blocks that follow one another, at goal or, failing that, near it: 0, -ENOSPC, -EIO.
 * alone: nothing stands before them that they should be next to. */
int ext2_new_blocks(struct ext2_fs *fs, u32 goal, bool alone, u32 *count, u32 *first);
/* 0, or -EIO: they were free before, or are no file's. */
int ext2_free_blocks(struct ext2_fs *fs, u32 first, u32 count);
/* A free inode for a file in dir: 0, -ENOSPC, -EIO. */
int ext2_new_inode(struct inode *dir, bool is_dir, u32 *ino);
void ext2_free_inode(struct ext2_fs *fs, u32 ino, bool is_dir);

/* map.c */
int ext2_map(struct inode *inode, u32 block, u32 max, bool create, struct extent *extent);
u64 ext2_max_size(const struct ext2_fs *fs); /* of a file */
/* truncate.c: frees the blocks from byte size on. fs->lock is not held. 0 or -EIO. */
int ext2_cut(struct inode *inode, u64 size);

/* inode.c */
/* The inode with a reference: 0, -EIO, -ENOMEM. */
int ext2_iget(struct super_block *sb, u32 ino, struct inode **inode);
/* A new one, named by nothing; inode_ready or inode_put is due: 0, -ENOSPC, -EIO, -ENOMEM. */
int ext2_inode_create(struct inode *dir, u32 mode, u32 rdev, struct inode **inode);
int ext2_write_inode(struct inode *inode);
void ext2_evict_inode(struct inode *inode);

/* dir.c */
struct ext2_slot {
	struct buf buf; /* ext2_slot_put when done */
	struct ext2_entry *entry; /* in it */
	struct ext2_entry *prev; /* before it in the block; NULL: it is the first */
	u32 sector; /* ext2_add: the disk's one that has all of the change; 0: not one alone */
};
/* 0, -ENOENT, -EIO, -ENOMEM. */
int ext2_find(struct inode *dir, const struct path_name *name, struct ext2_slot *slot);
/* Names inode, in *slot; ext2_remove undoes it: 0, -ENOSPC, -EIO, -ENOMEM. */
int ext2_add(struct inode *dir, const struct path_name *name, struct inode *inode,
	     struct ext2_slot *slot);
/* The sector of the disk that ext2_remove changes. */
u32 ext2_removal_sector(const struct ext2_slot *slot);
void ext2_remove(struct inode *dir, struct ext2_slot *slot);
/* Lets the entry name another inode. */
void ext2_point(struct inode *dir, struct ext2_slot *slot, struct inode *inode);
/* The first block of a new directory: . and .. */
int ext2_dir_init(struct inode *dir, struct inode *parent);
/* 0, -ENOTEMPTY, -EIO. */
int ext2_dir_empty(struct inode *dir);
int ext2_iterate(struct inode *dir, u64 cursor, struct dir_entry *e);

/* namei.c, link.c, symlink.c */
int ext2_symlink(struct inode *link, const char *target);
int ext2_readlink(struct inode *link, char *buf, size_t size);
int ext2_unlink(struct inode *dir, const struct path_name *name, struct inode *inode);
int ext2_link(struct inode *dir, const struct path_name *name, struct inode *inode);
int ext2_rename(struct inode *from, const struct path_name *old, struct inode *to,
		const struct path_name *new, struct inode *inode, struct inode *replaced);
extern const struct inode_operations ext2_dir_ops, ext2_file_ops, ext2_link_ops;
extern const struct cache_ops ext2_cache_ops;

#endif
