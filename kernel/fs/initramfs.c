/*
 * The first file system: unpacks a newc archive, which the boot loader put into memory, into ramfs.
 *
 * Data are copied, and the archive's memory is freed piece by piece as that proceeds, so the system
 * needs no more memory than its files, even if they nearly fill it. Parents must come before their
 * children, as every cpio program writes them. Any error in the archive stops the boot with its
 * position and reason: a system without half its files would fail later in obscure ways.
 *
 * For a file with several names (hard links), cpio stores the data with the last one. The earlier
 * names are kept in a short list and refer to the same inode.
 */
#include "internal.h"

#include "lib/assert.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/bootmem.h"
#include "newc.h"

#define MAX_HARD_LINKED 32
#define PIECE (64u << 10)

/* Inodes of members with more than one name, by their number in the archive. */
static struct {
	u32 ino;
	struct inode *inode;
} linked[MAX_HARD_LINKED];
static u32 nr_linked;

static struct inode *find_linked(const struct newc_entry *e)
{
	for (u32 i = 0; i < nr_linked; i++)
		if (linked[i].ino == e->ino)
			return linked[i].inode;
	return NULL;
}

static bool may_be_linked(const struct newc_entry *e)
{
	return e->nlink > 1 && (e->mode & S_IFMT) == S_IFREG;
}

/* Creates a node for a member without one, with a reference. Returns 0 or -errno. */
static int make_member(struct walk *w, const struct newc_entry *e, struct inode **inode)
{
	char *target = NULL;
	int err;

	if ((e->mode & S_IFMT) == S_IFLNK) {
		target = kzalloc(e->size + 1, GFP_KERNEL);
		if (!target)
			return -ENOMEM;
		memcpy(target, e->data, e->size);
	}
	err = walk_create(w, e->mode, e->rdev, target, inode);
	kfree(target);
	if (err)
		return err;
	if (may_be_linked(e) && nr_linked < MAX_HARD_LINKED) {
		linked[nr_linked].ino = e->ino;
		linked[nr_linked++].inode = *inode;
	}
	return 0;
}

static int name_member(struct walk *w, const struct newc_entry *e, struct inode **inode)
{
	*inode = may_be_linked(e) ? find_linked(e) : NULL;
	if (!*inode)
		return make_member(w, e, inode);
	inode_get(*inode);
	return walk_link(w, *inode);
}

/* Accepts a directory or device that the kernel has already created. Returns 0 or -errno. */
static int accept_existing(struct walk *w, const struct newc_entry *e)
{
	struct inode *old;
	int err = walk_last(w, false, &old);

	if (err)
		return err;
	if ((old->mode & S_IFMT) != (e->mode & S_IFMT) || inode_is_reg(old) || inode_is_link(old))
		err = -EEXIST;
	inode_put(old);
	return err;
}

/* Moves the data piece by piece. */
static int unpack_data(struct inode *inode, const struct newc_entry *e)
{
	int err = 0;

	for (u32 done = 0, len; done < e->size && !err; done += len) {
		len = MIN(e->size - done, PIECE);
		err = ramfs_append(inode, e->data + done, len);
		bootmem_free_initramfs(e->data + done + (err ? 0 : len));
	}
	return err;
}

static void set_times(struct inode *inode, const struct newc_entry *e)
{
	inode->atime_ns = inode->mtime_ns = inode->ctime_ns = e->mtime_s * 1000000000ull;
	inode->accessed = inode->modified = inode->changed = 0;
}

static int unpack_member(const struct newc_entry *e)
{
	struct inode *inode;
	struct walk w;
	int err;

	if (!*e->name)
		return -ENOENT;
	err = walk_parent(e->name, &w);
	if (err)
		return err;
	err = name_member(&w, e, &inode);
	if (!err) {
		if (inode_is_reg(inode))
			err = unpack_data(inode, e);
		set_times(inode, e);
		inode_put(inode);
	} else if (err == -EEXIST) {
		err = accept_existing(&w, e);
	}
	walk_end(&w);
	return err;
}

static const char *explain(int err)
{
	switch (err) {
	case -EEXIST:
		return "the name occurs twice";
	case -ENOENT:
		return "its directory is missing";
	case -ENOTDIR:
		return "a part of its path is not a directory";
	case -EFBIG:
		return "larger than 64 MiB";
	case -ENOMEM:
	case -ENOSPC:
		return "out of memory; the machine needs more (mem=)";
	default:
		return "the name is not valid";
	}
}

void initramfs_unpack(const void *start, const void *end)
{
	struct newc_reader r = { .archive = start, .size = (const u8 *)end - (const u8 *)start };
	static char name[NEWC_MAX_NAME];
	struct newc_entry e;
	u32 nr = 0;
	int err;

	while (!(err = newc_next(&r, &e))) {
		strlcpy(name, e.name, sizeof(name)); /* its memory is freed before the data end */
		e.name = name;
		err = unpack_member(&e);
		if (err)
			panic("initramfs: byte %u of %u, %s: %s (error %d)", r.entry_offset, r.size,
			      e.name, explain(err), -err);
		nr++;
	}
	bootmem_free_initramfs(end);
	if (err == -EINVAL)
		panic("initramfs: byte %u of %u: %s", r.entry_offset, r.size, r.wrong);
	printk("initramfs: %u files, %u KiB\n", nr, r.size >> 10);
}
