/*
 * The directory entry cache (dcache).
 *
 * A dentry is a name in a directory and the inode that it refers to. A hash table finds it by
 * (directory, name). In an in-memory file system the dentries are the directory: there are no other
 * entries, and they stay until the name is removed. For a file system on a device they are a cache
 * of what lookup found, also of names that do not exist (negative entries). The shrinker evicts the
 * entries not used since its last pass, oldest first (second chance).
 *
 * A dentry whose inode is otherwise in use is not evicted: that would free nothing. And while the
 * dentry exists, the name and the parent of an inode in use are cached, so that finding the path of
 * an open file or working directory never reads from a device.
 *
 * Locks: a directory's names change under its lock. A lookup needs no lock, since it does not
 * sleep.
 */
#include "internal.h"

#include "lib/assert.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "mm/zone.h"

#define MIN_BITS 8
#define MAX_BITS 14
#define PAGES_PER_BUCKET 8u

static struct dentry **table;
static u32 shift;        /* 32 - bits of the table's index */
LIST_HEAD(dentries_cached);
u32 nr_dentries_cached;
static u32 last_cookie = 2; /* 0 and 1 are "." and ".." */

void dcache_init(void)
{
	u32 bits = MIN_BITS;

	while (bits < MAX_BITS && PAGES_PER_BUCKET << bits < nr_managed_pages())
		bits++;
	table = kzalloc(sizeof(*table) << bits, GFP_KERNEL);
	if (!table)
		panic("dcache: no memory for the table of names");
	shift = 32 - bits;
}

static inline struct dentry **bucket(const struct inode *dir, u32 hash)
{
	return &table[(hash + (u32)dir) * 0x9e3779b1u >> shift];
}

static inline bool name_is(const struct dentry *d, const struct path_name *name)
{
	const char *a = d->name, *b = name->s;

	for (u32 left = name->len; left; left--)
		if (*a++ != *b++)
			return false;
	return true;
}

struct dentry *dentry_find(const struct inode *dir, const struct path_name *name)
{
	struct dentry *d = *bucket(dir, name->hash);

	for (; d; d = d->hash_next)
		if (d->hash == name->hash && d->dir == dir && d->len == name->len &&
		    name_is(d, name))
			break;
	return d;
}

struct dentry *dentry_new(const struct path_name *name)
{
	struct dentry *d = kmalloc(sizeof(*d) + name->len + 1, GFP_KERNEL | GFP_NORETRY);

	if (!d)
		return NULL;
	memcpy(d->name, name->s, name->len);
	d->name[name->len] = '\0';
	d->len = name->len;
	d->hash = name->hash;
	return d;
}

static bool is_cached(const struct inode *dir)
{
	return dir->state & INODE_STORED;
}

void dentry_link(struct inode *dir, struct dentry *d, struct inode *inode)
{
	struct dentry **head = bucket(dir, d->hash);

	d->dir = dir;
	d->inode = inode;
	d->cookie = ++last_cookie;
	d->hash_next = *head;
	*head = d;
	list_add_tail(&d->node, &dir->entries);
	if (is_cached(dir)) {
		d->used = false;
		list_add_tail(&d->lru, &dentries_cached);
		nr_dentries_cached++;
	}
	if (!inode)
		return;
	inode_get(inode);
	inode->nr_names++;
	inode->parent = dir;
}

static void unhash(struct dentry *d)
{
	struct dentry **at = bucket(d->dir, d->hash);

	while (*at != d)
		at = &(*at)->hash_next;
	*at = d->hash_next;
}

void dentry_remove(struct dentry *d)
{
	struct inode *inode = d->inode, *dir = d->dir;

	unhash(d);
	list_del(&d->node);
	if (is_cached(dir)) {
		list_del(&d->lru);
		nr_dentries_cached--;
	}
	kfree(d);
	if (!inode)
		return;
	inode->nr_names--;
	if (inode->parent == dir)
		inode->parent = NULL;
	inode_put(inode);
}

void dentry_drop_all(struct inode *dir)
{
	while (!list_empty(&dir->entries))
		dentry_remove(list_first_entry(&dir->entries, struct dentry, node));
}
