/*
 * Character devices, with the numbers of Linux: the memory devices here, the terminal in fs/tty.c.
 * The nodes exist from boot on, whatever the boot archive contains (as with devtmpfs).
 */
#include "internal.h"

#include "arch/uaccess.h"
#include "fs/tty.h"
#include "lib/assert.h"
#include "lib/random.h"
#include "lib/string.h"
#include "sched/current.h"

#define DEV(major, minor) ((major) << 8 | (minor))
#define RANDOM_CHUNK 256u

static long null_read(struct file *f, void *user, size_t n, u64 *pos)
{
	(void)f, (void)user, (void)n, (void)pos;
	return 0;
}

static long null_write(struct file *f, const void *user, size_t n, u64 *pos)
{
	(void)f, (void)user, (void)pos;
	return n;
}

static long zero_read(struct file *f, void *user, size_t n, u64 *pos)
{
	(void)f, (void)pos;
	return clear_user(user, n) ? -EFAULT : (long)n;
}

static long random_read(struct file *f, void *user, size_t n, u64 *pos)
{
	u8 chunk[RANDOM_CHUNK];

	(void)f, (void)pos;
	for (size_t done = 0, len; done < n; done += len) {
		len = MIN(n - done, sizeof(chunk));
		random_bytes(chunk, len);
		if (copy_to_user((u8 *)user + done, chunk, len))
			return done ? (long)done : -EFAULT;
		cond_resched();
		if (signal_pending(current))
			return done + len;
	}
	return n;
}

static long full_write(struct file *f, const void *user, size_t n, u64 *pos)
{
	(void)f, (void)user, (void)n, (void)pos;
	return -ENOSPC;
}

static const struct file_operations null_fops = { .read = null_read, .write = null_write };
static const struct file_operations zero_fops = { .read = zero_read, .write = null_write };
static const struct file_operations full_fops = { .read = zero_read, .write = full_write };
static const struct file_operations random_fops = { .read = random_read, .write = null_write };

static const struct {
	const char *name;
	u32 rdev, perm;
	const struct file_operations *fops;
} devices[] = {
	{ "null", DEV(1, 3), 0666, &null_fops },      { "zero", DEV(1, 5), 0666, &zero_fops },
	{ "full", DEV(1, 7), 0666, &full_fops },      { "random", DEV(1, 8), 0666, &random_fops },
	{ "urandom", DEV(1, 9), 0666, &random_fops }, { "tty", DEV(5, 0), 0666, &tty_fops },
	{ "console", DEV(5, 1), 0600, &tty_fops },    { "ttyS0", DEV(4, 64), 0600, &tty_fops },
};

/* Returns the operations of a character device (major << 8 | minor), or NULL if there is none. */
static const struct file_operations *chrdev_fops(u32 rdev)
{
	for (u32 i = 0; i < ARRAY_SIZE(devices); i++)
		if (devices[i].rdev == rdev)
			return devices[i].fops;
	return NULL;
}

void dev_register(const char *name, struct inode *inode)
{
	struct walk w = { .dir = dev_sb.root, .last = path_name_of(name) };

	if (walk_link(&w, inode))
		panic("dev: cannot make /dev/%s", name);
}

void dev_init(void)
{
	if (ramfs_mount(&dev_sb, NULL))
		panic("dev: no memory");
	mount_at_boot(&dev_sb, "dev");
	for (u32 i = 0; i < ARRAY_SIZE(devices); i++) {
		struct inode *inode =
			ramfs_inode(&dev_sb, S_IFCHR | devices[i].perm, devices[i].rdev);

		if (!inode)
			panic("dev: no memory");
		dev_register(devices[i].name, inode);
		inode_put(inode);
	}
}

/* All file systems share the operations of FIFOs, devices and directories. */
static const struct file_operations *special_fops[16] = { [S_IFDIR >> 12] = &dir_fops };

void special_register(u32 kind, const struct file_operations *fops)
{
	special_fops[kind >> 12] = fops;
}

void inode_set_special(struct inode *inode)
{
	if ((inode->mode & S_IFMT) == S_IFCHR)
		inode->fops = chrdev_fops(inode->rdev);
	else
		inode->fops = special_fops[inode->mode >> 12];
}

const struct file_operations dir_fops;
