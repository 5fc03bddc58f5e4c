/* Shared by the files of ext2. */
#ifndef FS_EXT2_EXT2_H
#define FS_EXT2_EXT2_H

#include "disk.h"
#include "errno.h"
#include "fs/vfs.h"
#include "mm/cache.h"

/*
 * A mounted file system: super_block.private. The kernel uses copies of superblock and descriptors,
 * which were checked at mount, because programs can write to the pages of the blocks.
 */
struct ext2_fs {
	struct super_block *sb;
	struct ext2_super_block es;
	struct ext2_group *groups;
	struct buf super, *desc; /* the blocks of both, pinned while mounted */
	u32 nr_groups, nr_desc;  /* blocks of descriptors */
	u32 desc_bits; /* log2 of the descriptors in a block */
	u32 inode_size, first_ino, table_blocks;
	u32 overhead;  /* blocks not available for files */
	u32 addr_bits; /* log2 of the addresses in a block */
	u16 state;     /* as found at mount */
	u32 nr_errors; /* found since then */
	u32 flushes_begun,
		flushed; /* numbers of flushes: the last one begun, the last one that succeeded */
	struct list_head kept; /* order.c: copies of bitmaps from before a freeing */
	u32 named_before; /* the first flush with all additional names of files */
	u32 freed_before; /* the first flush with all that was freed */
	bool not_kept;    /* out of memory for a copy */
	u32 table_window; /* inode.c: pages of a table last read together */
	bool touched;  /* the superblock's times are to be updated */
	struct ext2_log *log; /* mounted with redo; in use while sb->log is set */
	struct mutex lock; /* bitmaps, counts, and every file's tree of blocks */
};

#define EXT2_LOG_BLOCKS 256u

enum ext2_freed_kind { EXT2_FREED_BLOCKS, EXT2_FREED_INODE, EXT2_FREED_DIR };

/* A run of a bitmap's bits (freed.c). */
struct ext2_freed {
	enum ext2_freed_kind kind;
	u32 group, bit, count;
};

/* A log (log.c): blocks of a file, and memory for their contents. */
struct ext2_log {
	struct ext2_fs *fs;
	struct list_head node;
	u32 ino; /* the file */
	u32 nr;  /* of its blocks */
	u32 block[EXT2_LOG_BLOCKS];
	char *memory[EXT2_LOG_BLOCKS]; /* page by page */
	bool writing_inodes; /* a task writes all dirty inodes into their blocks */
	bool failed;      /* a commit has failed: there will be no other one */
	struct ext2_freed freed[64]; /* since the last commit */
	u32 nr_freed;
	bool is_full; /* there was no place for more */
	bool freeing; /* a commit clears their bits */
	u32 sequence, at; /* for redo.c; initially 0 */
};

/* inode.private */
struct ext2_info {
	struct ext2_inode raw; /* slots, flags and all else without a field in inode */
	u32 goal;  /* where the file's next block should be; 0: unknown */
	u32 named_in; /* order.c: the first flush with the name of a new inode; 0: an old inode */
	u32 cuts;  /* number of times that blocks were freed */
	u32 cursor; /* directory: last cursor of iterate; an entry or a block begins there */
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

/* With a log, a system call is atomic, and asks for no flush in its middle. */
static inline bool ext2_is_logged(const struct super_block *sb)
{
	return sb->log;
}

/* super.c */
/* Reports an inconsistency: marks the disk, and turns it read-only if its superblock requests that.
 * Returns -EIO. */
int ext2_error(struct super_block *sb, const char *fmt, ...) __printf(2, 3);
/* Writes changes in the copy of the superblock, or also of a descriptor, into its block. */
void ext2_super_dirty(struct ext2_fs *fs);
void ext2_group_dirty(struct ext2_fs *fs, u32 group);
u32 ext2_now(void); /* seconds since 1970 */

/* layout.c: positions on the disk. */
u32 ext2_group_first(const struct ext2_fs *fs, u32 group); /* its first block */
u32 ext2_group_blocks(const struct ext2_fs *fs, u32 group);
u32 ext2_group_of(const struct ext2_fs *fs, u32 block);
/* May a file have this block? It must be in range and not used by the file system itself. */
bool ext2_block_ok(struct ext2_fs *fs, u32 block);
/* Returns how many of count blocks from first on a file may have; ends at a group's end; 0:
 * none. */
u32 ext2_blocks_ok(struct ext2_fs *fs, u32 first, u32 count);
/* Checks the superblock and sets the derived values. Returns 0, or -EINVAL with a message. */
int ext2_check_super(struct ext2_fs *fs);
/* Returns false, with a message, if there are features that only a newer kernel may write. */
bool ext2_may_write(const struct ext2_fs *fs);
int ext2_check_groups(struct ext2_fs *fs);

/* bitmap.c */
bool ext2_bit(const void *map, u32 bit);
void ext2_bits_set(void *map, u32 from, u32 count);
/* Returns the first zero bit in [from, end), or end. */
u32 ext2_bits_find(const void *map, u32 from, u32 end);
/* Returns the first of `count` zero bits at a multiple of count (8, 64) in [from, end), or end. */
u32 ext2_bits_find_run(const void *map, u32 from, u32 end, u32 count);

/* order.c: what must be on the medium before what. Functions that return int return 0 or -EIO, and
 * may sleep. */
/* Writes all currently dirty metadata to the medium. */
int ext2_flush(struct super_block *sb);
/* Call when all of a new inode is in memory, before its name is entered. */
int ext2_before_name(struct inode *inode);
/* Call when new blocks of addresses are filled, before the file refers to them. Caller holds
 * fs->lock. */
int ext2_before_addresses(struct inode *inode);
/* Call after a name was entered: a new inode's first one, or one more. */
void ext2_named(struct inode *inode);
/* Call before a name of a file that is not a directory is removed; nlink still counts it. */
int ext2_before_unname(struct inode *inode);
/* Call when a renamed file has its new name in memory, before the old one is removed. entered: the disk
 * sector with the whole new name, 0: more than one, or the name was another file's; removed: the sector
 * that the removal changes. If it fails, the caller removes the new name again. */
int ext2_before_move(struct super_block *sb, u32 entered, u32 removed);

/* Freeing and allocating. Caller holds fs->lock. */
/* Call after blocks of a file were freed: inode->blocks and the slots are up to date. */
void ext2_blocks_freed(struct inode *inode);
/* Call before clearing bits of a bitmap. May sleep. */
void ext2_keep(struct ext2_fs *fs, const struct buf *map);
/* Returns the bitmap to allocate from: blocks freed since the last flush are not free in it. Valid
 * until the caller sleeps. */
const void *ext2_kept(const struct ext2_fs *fs, const struct buf *map);
/* Marks allocated bits. */
void ext2_take(struct ext2_fs *fs, struct buf *map, u32 bit, u32 count);
/* Call before an allocation. */
int ext2_flush_kept(struct ext2_fs *fs);
/* Call if nothing else is free. Returns 0 if more may be free now, -ENOSPC or -EIO. May sleep. */
int ext2_give_kept(struct ext2_fs *fs);
/* Call before the file system's private part is freed. */
void ext2_kept_drop(struct ext2_fs *fs);

/* log.c: for redo.c. */
/* Returns the memory of block i of the log. */
void *ext2_log_block(const struct ext2_fs *fs, u32 i);
/* Move nr blocks of the log, from number `first` on, between their memory and the disk. Return 0 or -EIO. May
 * sleep. */
int ext2_log_write(struct ext2_fs *fs, u32 first, u32 nr);
int ext2_log_read(struct ext2_fs *fs, u32 first, u32 nr);
/* Writes all dirty metadata to their home positions and waits; no flush. Returns 0 or -EIO. May sleep. */
int ext2_write_home(struct ext2_fs *fs);

/* Call before an allocation, and if nothing is free for it. Return 0 to try again, -ENOSPC or -EIO. With a
 * log, what must not be reused yet is free after a commit, when the call is tried again. */
static inline int ext2_before_taking(struct ext2_fs *fs)
{
	if (ext2_is_logged(fs->sb))
		return fs->log->is_full ? -ENOSPC : 0;
	return ext2_flush_kept(fs);
}

static inline int ext2_nothing_free(struct ext2_fs *fs)
{
	return ext2_is_logged(fs->sb) ? -ENOSPC : ext2_give_kept(fs);
}

/* log.c: for the rest of ext2. Functions that return int return 0 or -errno, and may sleep. */
int ext2_log_alloc(struct ext2_fs *fs);
/* Finds the log's file and replays it. Returns as ext2_redo_replay. */
int ext2_log_open(struct ext2_fs *fs);
/* Use the log from now on, or no longer. */
void ext2_log_start(struct ext2_fs *fs);
void ext2_log_stop(struct ext2_fs *fs);
int ext2_log_commit(struct ext2_fs *fs);
void ext2_log_free(struct ext2_fs *fs);

/* freed.c: caller holds fs->lock, or has closed the gate. */
/* Returns true if the freeing waits for the commit, false if it must be done now: there is no log, or no place. */
bool ext2_freed_later(struct ext2_fs *fs, enum ext2_freed_kind kind, u32 group, u32 bit, u32 count);
bool ext2_is_freed(const struct ext2_log *log); /* anything since the last commit? */
/* Clears the bits of what was freed since the last commit. Returns 0, -EIO or -ENOMEM. May sleep. */
int ext2_freed_apply(struct ext2_fs *fs);

/* redo.c: the log's contents. Functions that return int return 0 or -EIO, and may sleep. */
/* Returns the number of blocks that a transaction can have. */
u32 ext2_redo_capacity(const struct ext2_fs *fs);
/* Makes all dirty blocks of metadata durable together; they are not more than the capacity, and may be none. All
 * data that were written before are durable then, too. No block changes meanwhile. */
int ext2_redo_commit(struct ext2_fs *fs);
/* Called at mount, before anything is changed: writes home what the log holds of the last mount, which had the
 * present mtime and mnt_count in fs->es. The mount then flushes, changes both, and flushes again. Returns 1 if that
 * mount used the log, so that the disk is consistent now; 0 if it did not; -EIO. */
int ext2_redo_replay(struct ext2_fs *fs);

/* balloc.c and ialloc.c: may sleep. Caller holds fs->lock. */
/* Allocates up to *count consecutive blocks, at goal or near it. Returns 0, -ENOSPC or -EIO. alone:
 * there are no preceding blocks that they should be next to. */
int ext2_new_blocks(struct ext2_fs *fs, u32 goal, bool alone, u32 *count, u32 *first);
/* Returns 0, or -EIO if the blocks were already free, or cannot belong to a file. */
int ext2_free_blocks(struct ext2_fs *fs, u32 first, u32 count);
/* Allocates an inode for a file in dir. Returns 0, -ENOSPC or -EIO. */
int ext2_new_inode(struct inode *dir, bool is_dir, u32 *ino);
void ext2_free_inode(struct ext2_fs *fs, u32 ino, bool is_dir);

/* map.c */
int ext2_map(struct inode *inode, u32 block, u32 max, bool create, struct extent *extent);
u64 ext2_max_size(const struct ext2_fs *fs); /* of a file */
/* truncate.c: frees the blocks from byte size on. Caller does not hold fs->lock. Returns 0 or
 * -EIO. */
int ext2_cut(struct inode *inode, u64 size);

/* inode.c */
/* Stores the inode with a reference. Returns 0, -EIO or -ENOMEM. */
int ext2_iget(struct super_block *sb, u32 ino, struct inode **inode);
/* Gives up an inode that is not in use otherwise, and its reference; the next ext2_iget reads it again. */
void ext2_inode_drop(struct inode *inode);
/* Creates an inode without a name. Call inode_ready or inode_put next. Returns 0, -ENOSPC, -EIO or
 * -ENOMEM. */
int ext2_inode_create(struct inode *dir, u32 mode, u32 rdev, struct inode **inode);
int ext2_write_inode(struct inode *inode);
void ext2_evict_inode(struct inode *inode);

/* dir.c */
struct ext2_slot {
	struct buf buf; /* release by buf_put */
	struct ext2_entry *entry; /* in it */
	struct ext2_entry *prev; /* the entry before it in the block; NULL: it is the first */
	u32 sector; /* ext2_add: the disk sector with the whole change; 0: more than one */
};
/* Returns 0, -ENOENT, -EIO or -ENOMEM. */
int ext2_find(struct inode *dir, const struct path_name *name, struct ext2_slot *slot);
/* Adds a name for inode and sets *slot; ext2_remove undoes it. Returns 0, -ENOSPC, -EIO or
 * -ENOMEM. */
int ext2_add(struct inode *dir, const struct path_name *name, struct inode *inode,
	     struct ext2_slot *slot);
/* Returns the disk sector that ext2_remove changes. */
u32 ext2_removal_sector(const struct ext2_slot *slot);
void ext2_remove(struct inode *dir, struct ext2_slot *slot);
/* Makes the entry refer to another inode. */
void ext2_point(struct inode *dir, struct ext2_slot *slot, struct inode *inode);
/* Writes the first block of a new directory: . and .. */
int ext2_dir_init(struct inode *dir, struct inode *parent);
/* Returns 0, -ENOTEMPTY or -EIO. */
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
