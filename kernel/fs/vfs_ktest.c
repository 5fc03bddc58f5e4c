/*
 * Tests of the caches of names and inodes, and of mounts, on a file system made for the tests. Its
 * "device" is a table of names in one directory, and it counts its calls. Reading takes a while, so
 * that other tasks can ask meanwhile.
 */
#include "internal.h"

#include "fs/fs_type.h"
#include "lib/ktap.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "proc/task.h"
#include "sched/task.h"
#include "sched/timer.h"

#define TOP "/ktest"
#define ROOT_INO 2u
#define FIRST_INO 11u
#define NR_FILES 40u

static struct {
	char name[16]; /* "": free */
	u32 size;
} disk[NR_FILES];

static u32 nr_lookups, nr_reads, nr_writes, nr_evicted, nr_freed;

static int find_on_disk(const struct path_name *name)
{
	for (u32 i = 0; i < NR_FILES; i++)
		if (*disk[i].name && path_name_is(name, disk[i].name))
			return i;
	return -1;
}

static const struct inode_operations test_ops;

static struct inode *test_iget(struct super_block *sb, u32 ino)
{
	bool is_new;
	struct inode *inode = inode_get_cached(sb, ino, &is_new);

	if (!inode || !is_new)
		return inode;
	nr_reads++;
	ksleep_ns(1000000);
	inode->mode = ino == ROOT_INO ? S_IFDIR | 0755 : S_IFREG | 0644;
	inode->nlink = ino == ROOT_INO ? 2 : 1;
	inode->size = ino == ROOT_INO ? 0 : disk[ino - FIRST_INO].size;
	inode->ops = &test_ops;
	if (ino == ROOT_INO)
		inode_set_special(inode);
	inode_ready(inode);
	return inode;
}

static int test_lookup(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	int i = find_on_disk(name);

	nr_lookups++;
	ksleep_ns(1000000);
	if (i < 0)
		return -ENOENT;
	*inode = test_iget(dir->sb, FIRST_INO + i);
	return *inode ? 0 : -ENOMEM;
}

static int test_create(struct inode *dir, const struct path_name *name, u32 mode, u32 rdev,
		       const char *target, struct inode **inode)
{
	(void)mode, (void)rdev, (void)target;
	for (u32 i = 0; i < NR_FILES; i++) {
		if (*disk[i].name)
			continue;
		memcpy(disk[i].name, name->s, name->len);
		disk[i].name[name->len] = '\0';
		*inode = test_iget(dir->sb, FIRST_INO + i);
		return 0;
	}
	return -ENOSPC;
}

static int test_unlink(struct inode *dir, const struct path_name *name, struct inode *inode)
{
	(void)dir;
	disk[find_on_disk(name)].name[0] = '\0';
	inode->nlink--;
	return 0;
}

static const struct inode_operations test_ops = {
	.lookup = test_lookup,
	.create = test_create,
	.unlink = test_unlink,
};

static int test_write_inode(struct inode *inode)
{
	nr_writes++;
	if (inode->ino >= FIRST_INO)
		disk[inode->ino - FIRST_INO].size = inode->size;
	return 0;
}

static void test_evict_inode(struct inode *inode)
{
	nr_evicted++;
	nr_freed += !inode->nlink;
}

static int test_statfs(struct super_block *sb, struct kstatfs *st)
{
	(void)sb;
	*st = (struct kstatfs){ .block_size = 1024 };
	return 0;
}

static const struct super_operations test_super_ops = {
	.write_inode = test_write_inode,
	.evict_inode = test_evict_inode,
	.statfs = test_statfs,
};

static const struct fs_type test_type = { .name = "test", .on_device = true };

/* Mounts the test's file system on a directory of the test's own. */
static struct super_block *begin(void)
{
	struct super_block *sb = kzalloc(sizeof(*sb), GFP_KERNEL);
	struct inode *dir = NULL;

	nr_lookups = nr_reads = nr_writes = nr_evicted = nr_freed = 0;
	memset(disk, 0, sizeof(disk));
	EXPECT_EQ(vfs_mkdir(TOP, 0755), 0);
	EXPECT_EQ(vfs_lookup(TOP, true, &dir), 0);
	super_init(sb, &test_type);
	sb->ops = &test_super_ops;
	sb->root = test_iget(sb, ROOT_INO);
	mount_attach(sb, dir);
	return sb;
}

static void end(void)
{
	EXPECT_EQ(vfs_umount(TOP, true), 0);
	EXPECT_EQ(vfs_rmdir(TOP), 0);
}

static int look(const char *path)
{
	struct inode *inode;
	int err = vfs_lookup(path, true, &inode);

	if (!err)
		inode_put(inode);
	return err;
}

static void put_on_disk(u32 i, const char *name)
{
	strlcpy(disk[i].name, name, sizeof(disk[i].name));
}

KTEST(dcache, device_is_asked_once)
{
	begin();
	put_on_disk(0, "a");
	EXPECT_EQ(look(TOP "/a"), 0);
	EXPECT_EQ(look(TOP "/a"), 0);
	EXPECT_EQ(nr_lookups, 1);
	EXPECT_EQ(look(TOP "/none"), -ENOENT);
	EXPECT_EQ(look(TOP "/none"), -ENOENT);
	EXPECT_EQ(nr_lookups, 2); /* the missing name is cached, too */
	EXPECT_EQ(vfs_mknod(TOP "/none", S_IFREG | 0644, 0), 0);
	EXPECT_EQ(look(TOP "/none"), 0);
	EXPECT_EQ(vfs_unlink(TOP "/none"), 0);
	EXPECT_EQ(look(TOP "/none"), -ENOENT);
	EXPECT_EQ(nr_freed, 1);
	end();
}

KTEST(dcache, shrinks_to_what_is_in_use)
{
	struct inode *used = NULL;
	char path[32];

	begin();
	for (u32 i = 0; i < NR_FILES; i++) {
		snprintf(path, sizeof(path), TOP "/f%u", i);
		put_on_disk(i, path + sizeof(TOP));
		EXPECT_EQ(look(path), 0);
	}
	EXPECT_EQ(vfs_lookup(TOP "/f7", true, &used), 0);
	EXPECT_EQ(dcache_nr_cached(), NR_FILES);
	EXPECT_EQ(icache_nr_unused(), 0); /* held by their names */
	vfs_drop_caches();
	EXPECT_EQ(dcache_nr_cached(), 1);
	EXPECT_EQ(nr_evicted, NR_FILES - 1);
	EXPECT_EQ(vfs_path_of(used, path, sizeof(path)), 0);
	EXPECT_STREQ(path, TOP "/f7");
	inode_put(used);
	EXPECT_EQ(look(TOP "/f3"), 0); /* is read again */
	EXPECT_EQ(nr_reads, 1 + NR_FILES + 1);
	end();
	EXPECT_EQ(dcache_nr_cached(), 0);
	EXPECT_EQ(icache_nr_unused(), 0);
}

/* A damaged disk counts two names as one, and the first of them was removed. */
KTEST(dcache, reclaim_does_not_free_files)
{
	struct inode *inode = NULL;

	begin();
	put_on_disk(0, "a");
	put_on_disk(1, "b");
	EXPECT_EQ(vfs_lookup(TOP "/a", true, &inode), 0);
	EXPECT_EQ(look(TOP "/b"), 0);
	inode->nlink = 0;
	inode_put(inode);
	vfs_drop_caches();
	EXPECT_EQ(dcache_nr_cached(), 1);
	EXPECT_EQ(nr_freed, 0);
	EXPECT_EQ(look(TOP "/b"), 0);
	end();
	EXPECT_EQ(nr_freed, 1);
	EXPECT_EQ(dcache_nr_cached(), 0);
}

static struct super_block *racing;
static struct inode *raced[2];
static u32 seen_mode[2];

static void racer(void *arg)
{
	u32 i = (u32)arg;

	raced[i] = test_iget(racing, FIRST_INO);
	seen_mode[i] = raced[i]->mode;
	do_exit(0);
}

KTEST(icache, two_who_ask_get_one_inode)
{
	racing = begin();
	put_on_disk(0, "a");
	raced[0] = raced[1] = NULL;
	kthread_create("racer", 0, racer, (void *)0);
	kthread_create("racer", 0, racer, (void *)1);
	ksleep_ns(10000000);
	EXPECT(raced[0] && raced[0] == raced[1]);
	EXPECT_EQ(nr_reads, 2); /* the root and this inode */
	EXPECT_EQ(seen_mode[0], S_IFREG | 0644);
	EXPECT_EQ(seen_mode[1], S_IFREG | 0644); /* not before it was read */
	EXPECT_EQ(raced[0]->count, 2);
	inode_put(raced[0]);
	inode_put(raced[1]);
	EXPECT_EQ(icache_nr_unused(), 1);
	end();
}

KTEST(icache, dirty_stays_until_written)
{
	struct inode *inode = NULL;

	begin();
	put_on_disk(0, "a");
	EXPECT_EQ(vfs_lookup(TOP "/a", true, &inode), 0);
	inode->size = 77;
	inode_mark_dirty(inode);
	inode_put(inode);
	vfs_drop_caches();
	EXPECT_EQ(nr_evicted, 0);
	EXPECT_EQ(nr_writes, 0);
	EXPECT_EQ(vfs_sync(), 0);
	EXPECT_EQ(nr_writes, 1);
	EXPECT_EQ(disk[0].size, 77);
	vfs_drop_caches();
	EXPECT_EQ(nr_evicted, 1);
	end();
}

KTEST(icache, unlinked_lives_until_closed)
{
	struct inode *inode = NULL;

	begin();
	put_on_disk(0, "a");
	EXPECT_EQ(vfs_lookup(TOP "/a", true, &inode), 0);
	EXPECT_EQ(vfs_unlink(TOP "/a"), 0);
	EXPECT_EQ(nr_freed, 0);
	EXPECT_EQ(vfs_umount(TOP, true), -EBUSY);
	inode_put(inode);
	EXPECT_EQ(nr_freed, 1);
	end();
}

/* Mounts of ramfs: stacked, busy, read-only. */
KTEST(mount, stacked_ones_come_off_in_order)
{
	struct inode *below = NULL, *inner = NULL;

	EXPECT_EQ(vfs_mkdir(TOP, 0755), 0);
	EXPECT_EQ(vfs_mkdir(TOP "/below", 0755), 0);
	EXPECT_EQ(vfs_lookup(TOP "/below", true, &below), 0);
	EXPECT_EQ(vfs_mount("one", TOP, "ramfs", 0, NULL), 0);
	EXPECT_EQ(look(TOP "/below"), -ENOENT);
	EXPECT_EQ(vfs_mkdir(TOP "/one", 0755), 0);
	EXPECT_EQ(vfs_mount("two", TOP, "ramfs", 0, NULL), 0);
	EXPECT_EQ(look(TOP "/one"), -ENOENT);
	EXPECT_EQ(look(TOP "/.."), 0);
	EXPECT_EQ(vfs_rmdir(TOP), -EBUSY);
	EXPECT_EQ(vfs_mkdir(TOP "/d", 0755), 0);
	EXPECT_EQ(vfs_mount("three", TOP "/d", "ramfs", 0, NULL), 0);
	EXPECT_EQ(vfs_umount(TOP, true), -EBUSY); /* a mount inside */
	EXPECT_EQ(vfs_umount(TOP "/d", true), 0);
	EXPECT_EQ(vfs_umount(TOP "/d", true), -EINVAL);
	EXPECT_EQ(vfs_lookup(TOP "/d", true, &inner), 0);
	EXPECT_EQ(vfs_umount(TOP, true), -EBUSY); /* in use */
	inode_put(inner);
	EXPECT_EQ(vfs_umount(TOP, true), 0);
	EXPECT_EQ(look(TOP "/one"), 0);
	EXPECT_EQ(vfs_umount(TOP, true), 0);
	EXPECT_EQ(look(TOP "/below"), 0);
	inode_put(below);
	EXPECT_EQ(vfs_rmdir(TOP "/below"), 0);
	EXPECT_EQ(vfs_rmdir(TOP), 0);
}

KTEST(mount, read_only_refuses_changes)
{
	struct file *f;
	struct inode *inode = NULL;

	EXPECT_EQ(vfs_mkdir(TOP, 0755), 0);
	EXPECT_EQ(vfs_mount("x", TOP, "ramfs", 0, NULL), 0);
	EXPECT_EQ(vfs_open(TOP "/f", O_CREAT | O_RDWR, 0644, &f), 0);
	EXPECT_EQ(vfs_mount(NULL, TOP, NULL, MS_REMOUNT | MS_RDONLY, NULL), -EBUSY);
	file_put(f);
	EXPECT_EQ(vfs_mount(NULL, TOP, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	EXPECT_EQ(vfs_open(TOP "/f", O_RDWR, 0, &f), -EROFS);
	EXPECT_EQ(vfs_open(TOP "/g", O_CREAT | O_RDWR, 0644, &f), -EROFS);
	EXPECT_EQ(vfs_mkdir(TOP "/d", 0755), -EROFS);
	EXPECT_EQ(vfs_unlink(TOP "/f"), -EROFS);
	EXPECT_EQ(vfs_mkdir(TOP "/f", 0755), -EEXIST);
	EXPECT_EQ(vfs_lookup(TOP "/f", true, &inode), 0);
	EXPECT_EQ(vfs_chmod(inode, 0600), -EROFS);
	EXPECT_EQ(vfs_truncate(inode, 0), -EROFS);
	inode_put(inode);
	EXPECT_EQ(vfs_mount(NULL, TOP, NULL, MS_REMOUNT, NULL), 0);
	EXPECT_EQ(vfs_unlink(TOP "/f"), 0);
	EXPECT_EQ(vfs_mount(NULL, TOP "/none", NULL, MS_REMOUNT, NULL), -ENOENT);
	EXPECT_EQ(vfs_umount(TOP, true), 0);
	EXPECT_EQ(vfs_rmdir(TOP), 0);
}

KTEST(mount, leaves_nothing_behind)
{
	u32 objects = 0;

	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(vfs_mkdir(TOP, 0755), 0);
		EXPECT_EQ(vfs_mount("x", TOP, "ramfs", 0, NULL), 0);
		EXPECT_EQ(vfs_mkdir(TOP "/d", 0755), 0);
		EXPECT_EQ(vfs_mkdir(TOP "/d/e", 0755), 0);
		EXPECT_EQ(vfs_symlink("d", TOP "/d/e/s"), 0);
		EXPECT_EQ(vfs_mknod(TOP "/d/f", S_IFREG | 0644, 0), 0);
		EXPECT_EQ(vfs_umount(TOP, true), 0);
		EXPECT_EQ(vfs_rmdir(TOP), 0);
		if (!objects)
			objects = slab_objects_in_use();
	}
	EXPECT_EQ(slab_objects_in_use(), objects);
	EXPECT_EQ(vfs_mount("x", "/dev", "none", 0, NULL), -ENODEV);
	EXPECT_EQ(vfs_mount("x", "/init", "ramfs", 0, NULL), -ENOTDIR);
	EXPECT_EQ(vfs_mount("x", "/", "ramfs", 4096, NULL), -EINVAL);
	EXPECT_EQ(vfs_mount("x", "/", "ramfs", 0, NULL), -EBUSY);
	EXPECT_EQ(vfs_mount("p", "/proc", "proc", 0, NULL), -EBUSY);
	EXPECT_EQ(vfs_umount("/", true), -EBUSY);
}
