/*
 * Reading and writing inodes. An inode's record is in its group's table. The parts of it for which
 * struct inode has no field (slots, flags, the block of attributes) are kept unchanged beside it,
 * so that writing it back preserves everything that this kernel does not use.
 *
 * Life cycle: ext2_new_inode takes a number -> ext2_inode_create writes the record -> the directory
 * names it. After its last name and its last user are gone, ext2_evict_inode frees its blocks,
 * marks the record as deleted and frees the number.
 */
#include "ext2.h"

#include "arch/mmu.h"
#include "arch/time.h"
#include "drivers/block.h"
#include "lib/string.h"
#include "mm/slab.h"

#define SECOND 1000000000ull
#define TABLE_AHEAD 8u /* pages of a table that are read at once */

static const struct file_operations file_fops = {
	.read = cache_file_read,
	.write = cache_file_write,
};

/* Files that are used one after another have neighbouring records. */
static void read_ahead(struct super_block *sb, u32 block)
{
	struct ext2_fs *fs = ext2_fs(sb);
	u32 window = ((u64)block << sb->block_bits >> PAGE_SHIFT) / TABLE_AHEAD;

	if (window == fs->table_window)
		return;
	fs->table_window = window;
	cache_will_need(sb->bdev->inode, window * TABLE_AHEAD, TABLE_AHEAD);
}

/* Reads the block of the record and sets *raw to the record in it. Returns 0, -EIO or -ENOMEM. */
static int record(struct super_block *sb, u32 ino, struct buf *buf, struct ext2_inode **raw)
{
	struct ext2_fs *fs = ext2_fs(sb);
	u32 per_block = sb->block_size / fs->inode_size;
	u32 group = (ino - 1) / fs->es.inodes_per_group;
	u32 index = (ino - 1) % fs->es.inodes_per_group;
	u32 block = ext2_group(fs, group)->inode_table + index / per_block;
	int err;

	read_ahead(sb, block);
	err = buf_read(sb, block, buf);
	if (!err)
		*raw = (void *)(buf->data + index % per_block * fs->inode_size);
	return err;
}

static bool has_slots(const struct inode *inode)
{
	u32 attributes = ext2_info(inode)->raw.file_acl ? inode->sb->block_size / 512 : 0;

	return ext2_kind(inode) == S_IFREG || ext2_kind(inode) == S_IFDIR ||
	       (ext2_kind(inode) == S_IFLNK && inode->blocks > attributes);
}

/* Decodes Linux's two forms of a device number in slots 0 and 1. Returns 0 if it does not fit. */
static u32 device_of(const struct ext2_inode *raw)
{
	u32 wide = raw->slot[1], major = wide >> 8 & 0xfff;
	u32 minor = (wide & 0xff) | (wide >> 12 & 0xfff00);

	if (raw->slot[0])
		return raw->slot[0] & 0xffff;
	return major < 256 && minor < 256 ? major << 8 | minor : 0;
}

static void set_operations(struct inode *inode)
{
	inode->ops = &ext2_file_ops;
	if (ext2_kind(inode) == S_IFREG) {
		inode->fops = &file_fops;
		inode->cache.ops = &ext2_cache_ops;
		inode->cache.bdev = inode->sb->bdev;
	} else if (ext2_kind(inode) == S_IFLNK) {
		inode->ops = &ext2_link_ops;
	} else {
		if (ext2_kind(inode) == S_IFDIR)
			inode->ops = &ext2_dir_ops;
		inode_set_special(inode);
	}
}

/* Checks the record. Returns NULL, or an error message. */
static const char *wrong(const struct inode *inode)
{
	static const u16 kinds = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 12;
	struct ext2_fs *fs = ext2_fs(inode->sb);
	const struct ext2_inode *raw = &ext2_info(inode)->raw;
	u64 disk = (u64)fs->es.blocks_count << inode->sb->block_bits;

	if (!inode->nlink)
		return "was deleted";
	if (!(kinds >> (inode->mode >> 12) & 1))
		return "is of no kind";
	if (inode->ino == EXT2_ROOT_INO && ext2_kind(inode) != S_IFDIR)
		return "is the root, and no directory";
	if (raw->flags & EXT2_FOREIGN)
		return "is not laid out as in ext2";
	if (raw->file_acl && !ext2_block_ok(fs, raw->file_acl))
		return "has a wrong block of attributes";
	if (ext2_kind(inode) == S_IFREG)
		return inode->size > ext2_max_size(fs) ? "is too large" : NULL;
	if (ext2_kind(inode) == S_IFLNK)
		return inode->size >= (has_slots(inode) ? inode->sb->block_size : EXT2_FAST_LINK)
			       ? "is too long"
			       : NULL;
	if (ext2_kind(inode) == S_IFDIR &&
	    (!inode->size || inode->size > disk || inode->size % inode->sb->block_size))
		return "has the wrong size for a directory";
	return NULL;
}

static void from_record(struct inode *inode, const struct ext2_inode *raw)
{
	struct ext2_info *info = ext2_info(inode);

	info->raw = *raw;
	inode->mode = raw->mode;
	inode->nlink = raw->links;
	inode->uid = raw->uid | (u32)raw->uid_high << 16;
	inode->gid = raw->gid | (u32)raw->gid_high << 16;
	inode->size = raw->size;
	if (ext2_kind(inode) == S_IFREG)
		inode->size |= (u64)raw->size_high << 32;
	inode->blocks = raw->blocks;
	inode->atime_ns = raw->atime * SECOND;
	inode->mtime_ns = raw->mtime * SECOND;
	inode->ctime_ns = raw->ctime * SECOND;
	if (ext2_kind(inode) == S_IFCHR || ext2_kind(inode) == S_IFBLK)
		inode->rdev = device_of(raw);
}

static int read_record(struct inode *inode)
{
	struct ext2_info *info = kzalloc(sizeof(*info), GFP_KERNEL | GFP_NORETRY);
	struct ext2_inode *raw;
	const char *why;
	struct buf buf;
	int err;

	if (!info)
		return -ENOMEM;
	inode->private = info;
	err = record(inode->sb, inode->ino, &buf, &raw);
	if (err)
		return err;
	from_record(inode, raw);
	buf_put(&buf);
	why = wrong(inode);
	if (why)
		return ext2_error(inode->sb, "inode %u %s", inode->ino, why);
	set_operations(inode);
	if (ext2_fs(inode->sb)->log && ext2_fs(inode->sb)->log->ino == inode->ino)
		inode->state |= INODE_SWAP;
	return 0;
}

void ext2_inode_drop(struct inode *inode)
{
	kfree(inode->private);
	inode->private = NULL;
	inode_bad(inode);
}

int ext2_iget(struct super_block *sb, u32 ino, struct inode **inode)
{
	struct ext2_fs *fs = ext2_fs(sb);
	bool is_new;
	int err;

	if ((ino < fs->first_ino && ino != EXT2_ROOT_INO) || ino > fs->es.inodes_count)
		return ext2_error(sb, "there is no inode %u", ino);
	*inode = inode_get_cached(sb, ino, &is_new);
	if (!*inode)
		return -ENOMEM;
	if (!is_new && (*inode)->nlink)
		return 0;
	if (!is_new) {
		inode_put(*inode);
		return ext2_error(sb, "inode %u was deleted", ino);
	}
	err = read_record(*inode);
	if (err)
		ext2_inode_drop(*inode);
	else
		inode_ready(*inode);
	return err;
}

static void to_record(const struct inode *inode, struct ext2_inode *raw)
{
	*raw = ext2_info(inode)->raw;
	raw->mode = inode->mode;
	raw->links = inode->nlink;
	raw->uid = inode->uid;
	raw->uid_high = inode->uid >> 16;
	raw->gid = inode->gid;
	raw->gid_high = inode->gid >> 16;
	raw->size = inode->size;
	if (ext2_kind(inode) == S_IFREG)
		raw->size_high = inode->size >> 32;
	raw->blocks = inode->blocks;
	raw->atime = inode->atime_ns / SECOND;
	raw->mtime = inode->mtime_ns / SECOND;
	raw->ctime = inode->ctime_ns / SECOND;
}

int ext2_write_inode(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	struct ext2_inode *raw;
	struct buf buf;
	int err;

	if (inode->sb->read_only)
		return 0;
	err = record(inode->sb, inode->ino, &buf, &raw);
	if (err)
		return err;
	to_record(inode, raw);
	buf_dirty(&buf);
	buf_put(&buf);
	if (inode->size > 0x7fffffff && !(fs->es.ro_compat & EXT2_RO_COMPAT_LARGE_FILE)) {
		fs->es.ro_compat |= EXT2_RO_COMPAT_LARGE_FILE;
		ext2_super_dirty(fs);
	}
	return 0;
}

/* Clears the record of a deleted file, including its part beyond 128 bytes. */
static int clear_record(struct inode *inode)
{
	struct ext2_inode *raw;
	struct buf buf;
	u32 generation;
	int err = record(inode->sb, inode->ino, &buf, &raw);

	if (err)
		return err;
	generation = raw->generation;
	memset(raw, 0, ext2_fs(inode->sb)->inode_size);
	buf_dirty(&buf);
	buf_put(&buf);
	ext2_info(inode)->raw.generation = generation + 1;
	return 0;
}

static int fill_new(struct inode *inode, u32 mode, u32 rdev)
{
	u64 now = clock_realtime_ns();

	inode->private = kzalloc(sizeof(struct ext2_info), GFP_KERNEL | GFP_NORETRY);
	if (!inode->private)
		return -ENOMEM;
	inode->mode = mode;
	inode->rdev = rdev;
	inode->nlink = 1;
	inode->atime_ns = inode->mtime_ns = inode->ctime_ns = now;
	if (ext2_kind(inode) == S_IFCHR || ext2_kind(inode) == S_IFBLK)
		ext2_info(inode)->raw.slot[0] = rdev;
	set_operations(inode);
	return clear_record(inode);
}

/* Gets the inode of a number that the bitmap gave as free, so the inode must not be in use. */
static int new_cached(struct super_block *sb, u32 ino, struct inode **inode)
{
	bool is_new;

	*inode = inode_get_cached(sb, ino, &is_new);
	if (!*inode)
		return -ENOMEM;
	if (is_new)
		return 0;
	inode_put(*inode);
	return ext2_error(sb, "inode %u is in use, but is marked free", ino);
}

int ext2_inode_create(struct inode *dir, u32 mode, u32 rdev, struct inode **inode)
{
	struct ext2_fs *fs = ext2_fs(dir->sb);
	bool is_dir = (mode & S_IFMT) == S_IFDIR;
	u32 ino;
	int err;

	mutex_lock(&fs->lock);
	err = ext2_new_inode(dir, is_dir, &ino);
	mutex_unlock(&fs->lock);
	if (err)
		return err;
	err = new_cached(dir->sb, ino, inode);
	if (err == -EIO)
		return err; /* the bit was wrong and stays set */
	if (!err) {
		err = fill_new(*inode, mode, rdev);
		if (!err)
			return 0;
		ext2_inode_drop(*inode);
	}
	mutex_lock(&fs->lock);
	ext2_free_inode(fs, ino, is_dir);
	mutex_unlock(&fs->lock);
	return err;
}

/* The attributes may be shared with other inodes. Caller holds fs->lock. */
static void free_attributes(struct inode *inode)
{
	struct ext2_info *info = ext2_info(inode);
	struct ext2_xattr_header *header;
	struct buf buf;

	if (!info->raw.file_acl || buf_read(inode->sb, info->raw.file_acl, &buf))
		return;
	header = (void *)buf.data;
	if (header->magic != EXT2_XATTR_MAGIC || !header->refcount) {
		ext2_error(inode->sb, "inode %u has wrong attributes", inode->ino);
		buf_put(&buf);
		return;
	}
	if (header->refcount > 1) {
		header->refcount--;
		buf_dirty(&buf);
		buf_put(&buf);
	} else {
		buf_put(&buf);
		buf_forget(inode->sb, info->raw.file_acl);
		ext2_free_blocks(ext2_fs(inode->sb), info->raw.file_acl, 1);
	}
	info->raw.file_acl = 0;
	inode->blocks -= MIN(inode->blocks, inode->sb->block_size / 512);
}

static void remove_from_disk(struct inode *inode)
{
	struct ext2_fs *fs = ext2_fs(inode->sb);
	int err;

	if (has_slots(inode))
		ext2_cut(inode, 0);
	inode->size = 0;
	/* A smaller number would look like a link in ext3's list of orphans. */
	ext2_info(inode)->raw.dtime = MAX(ext2_now(), fs->es.inodes_count + 1);
	mutex_lock(&fs->lock);
	inode->sb->freeing = true;
	free_attributes(inode);
	err = ext2_write_inode(inode);
	if (!err)
		ext2_free_inode(fs, inode->ino, ext2_kind(inode) == S_IFDIR);
	else
		ext2_error(inode->sb, "inode %u cannot be freed", inode->ino);
	inode->sb->freeing = false;
	mutex_unlock(&fs->lock);
}

void ext2_evict_inode(struct inode *inode)
{
	if (!inode->private)
		return;
	if (!inode->nlink && !inode->sb->read_only)
		remove_from_disk(inode);
	kfree(inode->private);
	inode->private = NULL;
}
