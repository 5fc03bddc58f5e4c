/*
 * Evicting cached names of devices: the oldest unused ones when memory is short, all of a file
 * system's before it is unmounted. dcache.c says which names must stay.
 */
#include "internal.h"

static bool may_drop(const struct dentry *d)
{
	return !d->inode ||
	       (d->inode->count <= d->inode->nr_names && list_empty(&d->inode->entries));
}

/* On a damaged disk a file may have more names than its link count, and is then freed with its last
 * cached name. Reclaim must not do that, because it sleeps. */
static bool frees_inode(const struct dentry *d)
{
	return d->inode && !d->inode->nlink;
}

u32 dcache_nr_cached(void)
{
	return nr_dentries_cached;
}

u32 dcache_shrink(u32 n)
{
	u32 gone = 0;

	for (n = MIN(n, nr_dentries_cached); n && nr_dentries_cached; n--) {
		struct dentry *d = list_first_entry(&dentries_cached, struct dentry, lru);

		if (may_drop(d) && !d->used && !frees_inode(d)) {
			dentry_remove(d);
			gone++;
		} else {
			d->used = false;
			list_move_tail(&d->lru, &dentries_cached);
		}
	}
	return gone;
}

void dcache_drop(struct super_block *sb)
{
	struct dentry *d, *next;
	bool some, slept;

	do {
		some = slept = false;
		list_for_each_entry_safe(d, next, &dentries_cached, lru) {
			if (d->dir->sb != sb || !may_drop(d))
				continue;
			some = true;
			slept = frees_inode(d);
			dentry_remove(d);
			if (slept) /* next may be gone */
				break;
		}
	} while (some);
}
