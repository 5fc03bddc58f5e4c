/*
 * tmpfs: a ramfs whose files are shared memory (mm/cache/shmem.c), with its own size limit. Also
 * unnamed files: memory shared after a fork, memfd, System V segments. They belong to an unmounted
 * file system without a limit, and appear only as a name in /proc/PID/maps.
 *
 * Left out: limits on inodes, quotas, seals.
 */
#include "internal.h"

#include "fs/fs_type.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/zone.h"

#define TMPFS_MAGIC 0x01021994u

static int tmpfs_statfs(struct super_block *sb, struct kstatfs *st)
{
	*st = (struct kstatfs){ .magic = TMPFS_MAGIC, .block_size = PAGE_SIZE };
	st->blocks = sb->max_pages;
	st->blocks_free = sb->max_pages - MIN(sb->nr_pages, sb->max_pages);
	st->blocks_available = st->blocks_free;
	return 0;
}

static const struct super_operations tmpfs_super_ops = { .statfs = tmpfs_statfs };

/* Parses a size; 0 means no limit. Returns 0 or -EINVAL. */
static int parse_size_option(const char *text, u32 *pages)
{
	u64 bytes;

	if (parse_size(text, &bytes) || bytes > 1ull << 40)
		return -EINVAL;
	*pages = (bytes + PAGE_SIZE - 1) >> PAGE_SHIFT;
	return 0;
}

/* Parses size=N[KMG][,...]. */
static int parse_options(struct super_block *sb, const char *options)
{
	char one[32];

	while (options && *options) {
		const char *end = strchr(options, ',');
		size_t len = end ? (size_t)(end - options) : strlen(options);

		if (len >= sizeof(one))
			return -EINVAL;
		memcpy(one, options, len);
		one[len] = '\0';
		if (strncmp(one, "size=", 5) || parse_size_option(one + 5, &sb->max_pages)) {
			printk("tmpfs: %s: unknown\n", one);
			return -EINVAL;
		}
		options += len + !!end;
	}
	return 0;
}

static int tmpfs_mount(struct super_block *sb, const char *options)
{
	int err;

	sb->swaps = true;
	sb->max_pages = nr_managed_pages() / 2;
	err = parse_options(sb, options) ?: ramfs_mount(sb, NULL);
	sb->ops = &tmpfs_super_ops;
	if (!err)
		sb->root->mode = S_IFDIR | 01777;
	return err;
}

static void mount_on(const char *path)
{
	int err = vfs_mount("tmpfs", path, "tmpfs", 0, NULL);

	if (err)
		printk("tmpfs: cannot be mounted on %s: error %d\n", path, -err);
}

/* Mounts a tmpfs, whose files can be evicted, on /dev/shm, where C libraries keep shared memory, and on
 * /tmp, unless / is a disk, which has its own /tmp. */
static void mount_usual(void)
{
	vfs_mkdir("/dev/shm", 0755);
	mount_on("/dev/shm");
	if (vfs_root->sb == &root_sb)
		mount_on("/tmp");
}

AT_STAGE(mounts, 20, mount_usual);

static FILE_SYSTEM(tmpfs_type) = { .name = "tmpfs", .mount = tmpfs_mount };

/* Unnamed files. */

static const struct fs_type shm_type = { .name = "tmpfs" };
static struct super_block shm_sb;

static void unnamed_evict(struct inode *inode)
{
	cache_drop(inode);
	kfree(inode->private);
}

int vfs_shmem_create(const char *name, u64 size, struct inode **inode)
{
	char *copy;

	if (size > CACHE_MAX_SIZE)
		return -EFBIG;
	copy = kmalloc(strlen(name) + 1, GFP_KERNEL | GFP_NORETRY);
	*inode = copy ? ramfs_inode(&shm_sb, S_IFREG | 0777, 0) : NULL;
	if (!*inode) {
		kfree(copy);
		return -ENOMEM;
	}
	strlcpy(copy, name, strlen(name) + 1);
	(*inode)->private = copy;
	(*inode)->evict = unnamed_evict;
	(*inode)->size = size;
	return 0;
}

int vfs_shmem_open(struct inode *inode, struct file **file)
{
	return file_create(inode, O_RDWR, file);
}

static void shm_fs_init(void)
{
	super_init(&shm_sb, &shm_type);
	shm_sb.ops = &tmpfs_super_ops;
	shm_sb.block_size = PAGE_SIZE;
	shm_sb.swaps = shm_sb.unnamed = true;
}

AT_STAGE(files, 20, shm_fs_init);
