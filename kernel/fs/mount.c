/*
 * Mounting and unmounting: by mount(2), and from disks before the first program starts. With
 * root=DEVICE the file system of that device covers the first root (mount_tree.c), and /dev and
 * /proc are mounted there if it has these directories. With mount=DEVICE the device's file system,
 * or the first one of its partitions, is mounted on /mnt.
 *
 * Left out: one file system at two places (bind mounts), moving a mount, namespaces.
 */
#include "internal.h"

#include "drivers/block.h"
#include "fs/fs_type.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/seq_file.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/slab.h"

#define MS_MGC_MASK 0xffff0000u
#define MS_MGC_VAL 0xc0ed0000u

extern const struct fs_type __filesystems_start[], __filesystems_end[];

#define for_each_filesystem(t)                                                                     \
	for (const struct fs_type *t = __filesystems_start; t < __filesystems_end; t++)

static char root_device[32], mnt_device[32];

PARAM_STR("root", root_device, "device whose file system is / (sda, vda1, ...); none: the archive",
	  AT_BOOT);
PARAM_STR("mount", mnt_device,
	  "device that is mounted on /mnt at boot (sda, vda1, ...); none: none", AT_BOOT);

static const struct fs_type *find_type(const char *name)
{
	for_each_filesystem(t)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

/* Finds a device by its name, or by any node that refers to it. Returns 0, -ENOTBLK, -ENXIO, or an
 * error of the lookup. */
static int find_device(const char *path, struct block_device **bdev)
{
	struct inode *node;
	int err;

	*bdev = bdev_find(path);
	if (*bdev)
		return 0;
	err = vfs_lookup(path, true, &node);
	if (err)
		return err;
	if ((node->mode & S_IFMT) == S_IFBLK)
		*bdev = bdev_by_dev(node->rdev);
	else
		err = -ENOTBLK;
	inode_put(node);
	return err || *bdev ? err : -ENXIO;
}

static int open_device(struct super_block *sb, const char *path)
{
	int err = find_device(path, &sb->bdev);

	if (err)
		return err;
	if (sb->bdev->read_only && !sb->read_only)
		return -EACCES;
	return bdev_claim(sb->bdev, sb->type->name);
}

/* Initialises the file system. On failure nothing is left of it. */
static int fill(struct super_block *sb, const char *source, const char *options)
{
	int err = sb->type->on_device ? open_device(sb, source) : 0;

	if (err)
		return err;
	err = sb->type->mount(sb, options);
	if (err && sb->bdev)
		super_release_device(sb);
	return err;
}

/* Stores a super block with its root, not yet mounted, in *made. Returns 0 or -errno. */
static int make_super(const struct fs_type *type, const char *source, bool read_only,
		      const char *options, struct super_block **made)
{
	struct super_block *sb = type->single;
	int err;

	if (sb) {
		*made = sb;
		return sb->mounted_on ? -EBUSY : 0;
	}
	sb = kzalloc(sizeof(*sb), GFP_KERNEL);
	if (!sb)
		return -ENOMEM;
	super_init(sb, type);
	strlcpy(sb->source, source, sizeof(sb->source));
	sb->read_only = read_only;
	err = fill(sb, source, options);
	if (err)
		kfree(sb);
	else
		*made = sb;
	return err;
}

/* One remount at a time: the file system marks the disk as in use, and may sleep. */
static struct mutex remount_lock = { .waiters = { LIST_HEAD_INIT(remount_lock.waiters.waiters) } };

/* Writes everything and marks the disk as unused. No change can begin meanwhile. */
static int make_read_only(struct super_block *sb)
{
	int err;

	if (super_has_writers(sb))
		return -EBUSY;
	sb->closing = true;
	err = super_sync(sb);
	if (!err && sb->ops->remount)
		err = sb->ops->remount(sb, true);
	if (!err)
		err = sb->bdev ? sb->ops->flush(sb) : 0;
	if (!err)
		sb->read_only = true;
	sb->closing = false;
	return err;
}

static int remount_locked(struct inode *root, bool read_only)
{
	struct super_block *sb = root->sb;
	int err = 0;

	if (root != sb->root || list_empty(&sb->node))
		return -EINVAL;
	if (sb->read_only == read_only)
		return 0;
	if (read_only)
		return make_read_only(sb);
	if (sb->bdev && sb->bdev->read_only)
		return -EACCES;
	if (sb->ops->remount)
		err = sb->ops->remount(sb, false);
	if (!err)
		sb->read_only = false;
	return err;
}

static int remount(struct inode *root, bool read_only)
{
	int err;

	mutex_lock(&remount_lock);
	err = remount_locked(root, read_only);
	mutex_unlock(&remount_lock);
	return err;
}

/*
 * Returns dir, locked and with a reference, or the topmost root of what other tasks have mounted on
 * it meanwhile. Locked, because removing a directory also takes its lock, and may sleep.
 */
static struct inode *lock_top(struct inode *dir)
{
	inode_get(dir);
	mutex_lock(&dir->lock);
	while (dir->mounted) {
		struct inode *below = dir;

		dir = dir->mounted;
		inode_get(dir);
		mutex_unlock(&below->lock);
		inode_put(below);
		mutex_lock(&dir->lock);
	}
	return dir;
}

static int mount_new(const char *source, struct inode *dir, const char *type_name, u32 flags,
		     const char *options)
{
	const struct fs_type *type = find_type(type_name);
	struct super_block *sb;
	int err;

	if (!type)
		return -ENODEV;
	if (!inode_is_dir(dir))
		return -ENOTDIR;
	err = make_super(type, source, flags & MS_RDONLY, options, &sb);
	if (err)
		return err;
	dir = lock_top(dir);
	err = !dir->nlink ? -ENOENT : sb->mounted_on ? -EBUSY : 0;
	if (!err)
		mount_attach(sb, dir);
	mutex_unlock(&dir->lock);
	if (!err)
		return 0;
	inode_put(dir);
	if (sb != type->single)
		super_free(sb);
	return err;
}

int vfs_mount(const char *source, const char *path, const char *type, u32 flags,
	      const char *options)
{
	struct inode *dir;
	int err;

	if ((flags & MS_MGC_MASK) == MS_MGC_VAL)
		flags &= ~MS_MGC_MASK;
	if (flags & ~(u32)MS_KNOWN)
		return -EINVAL;
	err = vfs_lookup(path, true, &dir);
	if (err)
		return err;
	if (flags & MS_REMOUNT)
		err = remount(dir, flags & MS_RDONLY);
	else if (dir == vfs_root)
		err = -EBUSY; /* all processes would lose their files */
	else
		err = mount_new(source, dir, type, flags, options);
	inode_put(dir);
	return err;
}

/* Takes an unused file system out of the tree, and drops the reference to the directory. */
static void mount_detach(struct super_block *sb)
{
	struct inode *dir = sb->mounted_on;

	list_del_init(&sb->node);
	dir->mounted = NULL;
	sb->mounted_on = NULL;
	sb->root->parent = NULL;
	if (vfs_root == sb->root)
		vfs_root = dir;
	inode_put(dir);
}

int vfs_umount(const char *path, bool follow)
{
	struct super_block *sb;
	struct inode *root;
	int err = vfs_lookup(path, follow, &root);

	if (err)
		return err;
	sb = root->sb;
	if (root != sb->root || list_empty(&sb->node))
		err = -EINVAL;
	else if (!sb->mounted_on || super_in_use(sb))
		err = -EBUSY;
	if (!err)
		mount_detach(sb);
	inode_put(root);
	if (!err)
		super_free(sb);
	return err;
}

static void move_to(struct super_block *sb, const char *path)
{
	struct inode *dir;

	if (vfs_lookup(path, true, &dir))
		return;
	if (!inode_is_dir(dir)) {
		inode_put(dir);
		return;
	}
	mount_detach(sb);
	mount_attach(sb, dir);
}

static bool is_none(const char *device)
{
	return !*device || !strcmp(device, "none");
}

static int mount_any(const char *device, struct inode *dir)
{
	int err = -ENODEV;

	for_each_filesystem(t)
		if (t->on_device && err)
			err = mount_new(device, dir, t->name, 0, NULL);
	return err;
}

static void mount_root(void)
{
	int err;

	if (is_none(root_device))
		return;
	err = mount_any(root_device, vfs_root);
	if (err)
		panic("root=%s cannot be mounted: error %d", root_device, -err);
	move_to(&dev_sb, "/dev");
	move_to(&proc_sb, "/proc");
}

/* Mounts the device or one of its partitions, whose names begin with its name. */
static void mount_mnt(void)
{
	struct block_device *b = NULL;
	struct inode *dir = NULL;
	int err;

	if (is_none(mnt_device))
		return;
	vfs_mkdir("/mnt", 0755); /* it may exist if / is on a disk */
	err = vfs_lookup("/mnt", true, &dir) ?: -ENODEV;
	while (dir && err && (b = bdev_next(b)))
		if (!strncmp(b->name, mnt_device, strlen(mnt_device)))
			err = mount_any(b->name, dir);
	if (err)
		printk("mount: %s cannot be mounted on /mnt: error %d\n", mnt_device, -err);
	if (dir)
		inode_put(dir);
}

/* Mounts the devices that root= and mnt= name. Panics if / cannot be mounted. */
static void mount_disks(void)
{
	mount_root();
	mount_mnt();
}

AT_STAGE(mounts, 10, mount_disks);

/* All mounts. */

int vfs_sync(void)
{
	struct super_block *sb;
	int err = 0, err2;

	list_for_each_entry(sb, &mounts, node) {
		inode_get(sb->root); /* in use: it stays while this task sleeps */
		err2 = super_sync(sb);
		err = err ? err : err2;
		inode_put(sb->root);
	}
	for (struct block_device *b = bdev_next(NULL); b; b = bdev_next(b)) {
		err2 = buf_sync_all(b); /* pages written through the device itself */
		err = err ? err : err2;
	}
	return err;
}

static void sync_last(void)
{
	vfs_sync();
}

AT_STAGE(end, 05, sync_last);

void vfs_drop_pages(void)
{
	struct super_block *sb;
	struct inode *inode;

	list_for_each_entry(sb, &mounts, node)
		list_for_each_entry(inode, &sb->inodes, on_sb)
			cache_shrink(inode);
}

void mounts_show(struct seq_file *m)
{
	static char path[PATH_MAX]; /* show functions do not sleep */
	const struct super_block *sb;

	list_for_each_entry(sb, &mounts, node)
		if (!vfs_path_of(sb->root, path, sizeof(path)))
			seq_printf(m, "%s %s %s %s,relatime%s%s 0 0\n", sb->source, path,
				   sb->type->name, sb->read_only ? "ro" : "rw",
				   sb->shown ? "," : "", sb->shown ? sb->shown : "");
}

void filesystems_show(struct seq_file *m)
{
	for_each_filesystem(t)
		seq_printf(m, "%s\t%s\n", t->on_device ? "" : "nodev", t->name);
}
