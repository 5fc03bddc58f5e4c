/*
 * Inodes and names.
 *
 * The file system is one tree of inodes that lives in memory. A directory is an inode with a list
 * of dentries; a dentry is a name and a reference to an inode. An inode is freed with its last
 * reference, whoever held it: a name, an open file, a region of an address space, a working
 * directory. So a file that is unlinked while it is open lives on until it is closed.
 *
 * inode->parent is the directory that holds the inode's name (for a file with several names, the
 * latest of them), or NULL after unlink. It needs no reference: a directory is removed only when it
 * is empty.
 *
 * Locks: none. A walk through the tree gives up the CPU only where it allocates memory or asks
 * a directory's lookup hook, and references to inodes hold across that. Whoever changes a directory
 * allocates first, and then looks and changes without sleeping: a name seen to be free still is.
 *
 * Left out: permissions (every task is root), access and change times, hashed directories: they are
 * lists, and a look at length and first letter turns most entries down.
 */
#include "internal.h"

#include "lib/assert.h"
#include "lib/string.h"
#include "mm/slab.h"

struct inode *vfs_root;
struct wait_queue poll_wait;

static struct kmem_cache *inode_cache;
static u32 last_ino;
static u32 last_cookie = 2; /* 0 and 1 are "." and ".." */

struct inode *inode_alloc(u32 mode)
{
	struct inode *inode = kmem_cache_alloc(inode_cache, GFP_KERNEL | GFP_NORETRY);

	if (!inode)
		return NULL;
	memset(inode, 0, sizeof(*inode));
	inode->ino = ++last_ino;
	inode->mode = mode;
	inode->count = 1;
	inode->modified = cycles_now();
	INIT_LIST_HEAD(&inode->entries);
	cache_init(&inode->cache);
	mutex_init(&inode->lock);
	return inode;
}

void inode_free(struct inode *inode)
{
	ASSERT(!inode->count && list_empty(&inode->entries));
	if (inode->evict)
		inode->evict(inode);
	kmem_cache_free(inode_cache, inode);
}

struct dentry *dentry_find(struct inode *dir, const struct path_name *name)
{
	struct dentry *d;

	list_for_each_entry(d, &dir->entries, node)
		if (d->len == name->len && d->name[0] == name->s[0] &&
		    !memcmp(d->name, name->s, name->len))
			return d;
	return NULL;
}

struct dentry *dentry_new(const struct path_name *name, struct inode *inode)
{
	struct dentry *d = kmalloc(sizeof(*d) + name->len + 1, GFP_KERNEL | GFP_NORETRY);

	if (!d)
		return NULL;
	memcpy(d->name, name->s, name->len);
	d->name[name->len] = '\0';
	d->len = name->len;
	d->inode = inode;
	inode_get(inode);
	return d;
}

void dentry_free(struct dentry *d)
{
	inode_put(d->inode);
	kfree(d);
}

void dentry_link(struct inode *dir, struct dentry *d)
{
	struct inode *inode = d->inode;

	d->cookie = ++last_cookie;
	inode->nlink++;
	inode->parent = dir;
	if (inode_is_dir(inode)) {
		inode->nlink++;
		dir->nlink++;
	}
	list_add_tail(&d->node, &dir->entries);
	inode_touch(dir);
}

void dentry_remove(struct inode *dir, struct dentry *d)
{
	struct inode *inode = d->inode;

	list_del(&d->node);
	inode_touch(dir);
	inode->nlink--;
	if (inode_is_dir(inode)) {
		inode->nlink--;
		dir->nlink--;
	}
	if (inode->parent == dir)
		inode->parent = NULL;
	dentry_free(d);
}

void vfs_stat(struct inode *inode, struct kstat *st)
{
	if (inode->modified) {
		u64 age_ns = cycles_to_ns(cycles_now() - inode->modified);

		inode->mtime_ns = clock_realtime_ns() - age_ns;
		inode->modified = 0;
	}
	*st = (struct kstat){
		.dev = 1,
		.ino = inode->ino,
		.mode = inode->mode,
		.nlink = inode->nlink,
		.rdev = inode->rdev,
		.blksize = PAGE_SIZE,
		.size = inode->size,
		.blocks = (u64)inode->cache.nr_pages * (PAGE_SIZE / 512),
		.mtime_ns = inode->mtime_ns,
	};
}

void vfs_init(void)
{
	wait_queue_init(&poll_wait);
	inode_cache = kmem_cache_create("inode", sizeof(struct inode), 0, NULL);
	vfs_root = ramfs_inode(S_IFDIR | 0755, 0);
	if (!vfs_root)
		panic("vfs: no memory for the root directory");
	vfs_root->nlink = 2;
	vfs_root->parent = vfs_root;
	dev_init();
}
