/* Stands in for the kernel's header until that has file systems. */
#ifndef FS_VFS_H
#define FS_VFS_H

#include "lib/list.h"
#include "mm/cache.h"
#include "sched/wait.h"
#include "types.h"

#define S_IFMT 0170000
#define S_IFIFO 0010000
#define S_IFCHR 0020000
#define S_IFDIR 0040000
#define S_IFBLK 0060000
#define S_IFREG 0100000
#define S_IFLNK 0120000
#define S_IFSOCK 0140000
#define NAME_MAX 255

struct super_block;
struct inode;

struct file {
	struct inode *inode;
};

struct file_operations {
	long (*read)(struct file *f, void *user, size_t n, u64 *pos);
	long (*write)(struct file *f, const void *user, size_t n, u64 *pos);
};

struct path_name {
	const char *s;
	u32 len;
	u32 hash;
};

struct dir_entry {
	u64 next;
	u32 ino, mode;
	u32 len;
	char name[NAME_MAX + 1];
};

struct inode_operations {
	int (*lookup)(struct inode *dir, const struct path_name *name, struct inode **inode);
	int (*create)(struct inode *dir, const struct path_name *name, u32 mode, u32 rdev,
		      const char *target, struct inode **inode);
	int (*link)(struct inode *dir, const struct path_name *name, struct inode *inode);
	int (*unlink)(struct inode *dir, const struct path_name *name, struct inode *inode);
	int (*rename)(struct inode *from, const struct path_name *old, struct inode *to,
		      const struct path_name *new, struct inode *inode, struct inode *replaced);
	int (*iterate)(struct inode *dir, u64 cursor, struct dir_entry *e);
	int (*readlink)(struct inode *link, char *buf, size_t size);
	int (*truncate)(struct inode *inode, u64 size);
};

struct kstatfs {
	u32 magic, block_size;
	u64 blocks, blocks_free, blocks_available;
	u64 files, files_free;
};

struct super_operations {
	int (*write_inode)(struct inode *inode);
	void (*evict_inode)(struct inode *inode);
	int (*sync)(struct super_block *sb);
	int (*statfs)(struct super_block *sb, struct kstatfs *st);
	void (*put_super)(struct super_block *sb);
	int (*remount)(struct super_block *sb, bool read_only);
};

struct super_block {
	const struct super_operations *ops;
	struct block_device *bdev;
	u32 dev, block_size, block_bits;
	u64 max_size;
	bool read_only;
	struct inode *root;
	void *private;
};

struct fs_type {
	const char *name;
	bool on_device;
	int (*mount)(struct super_block *sb, const char *options);
};

enum inode_state { INODE_NEW = 2, INODE_BAD = 4, INODE_DIRTY = 8 };

struct inode {
	u32 ino, mode, nlink, rdev;
	u32 count;
	u64 size;
	struct super_block *sb;
	const struct inode_operations *ops;
	const struct file_operations *fops;
	struct page_cache cache;
	u32 uid, gid, block_bits;
	u64 atime_ns, mtime_ns, ctime_ns;
	u64 blocks;
	u32 state;
	struct mutex lock;
	void *private;
	struct list_head node;
};

struct inode *inode_get_cached(struct super_block *sb, u32 ino, bool *is_new);
void inode_ready(struct inode *inode);
void inode_bad(struct inode *inode);
void inode_mark_dirty(struct inode *inode);
void inode_set_special(struct inode *inode);
void inode_free(struct inode *inode);

static inline void inode_get(struct inode *inode)
{
	inode->count++;
}

static inline void inode_put(struct inode *inode)
{
	if (!--inode->count)
		inode_free(inode);
}

#endif
