/* Paths, as far as scripts need them: absolute, without symlinks on the way, without . and .. */
#include "host.h"

#include "fs/gate.h"
#include <string.h>

static int enter(struct inode **dir, const struct path_name *name)
{
	struct inode *next;
	int err = -ENOTDIR;

	if (name->len > NAME_MAX)
		err = -ENAMETOOLONG;
	else if (ext2_kind(*dir) == S_IFDIR)
		err = (*dir)->ops->lookup(*dir, name, &next);
	inode_put(*dir);
	if (!err)
		*dir = next;
	return err;
}

int host_walk_parent(const char *path, struct inode **dir, struct path_name *last)
{
	int err = 0;

	*dir = host_sb.root;
	inode_get(*dir);
	for (path += *path == '/'; !err; path += last->len + 1) {
		*last = (struct path_name){ .s = path, .len = strcspn(path, "/") };
		if (!path[last->len])
			break;
		err = enter(dir, last);
	}
	if (err)
		return err;
	if (ext2_kind(*dir) == S_IFDIR)
		err = last->len > NAME_MAX ? -ENAMETOOLONG : 0;
	else
		err = -ENOTDIR;
	if (err)
		inode_put(*dir);
	return err;
}

int host_walk(const char *path, struct inode **inode)
{
	struct path_name last;
	int err = host_walk_parent(path, inode, &last);

	return err || !last.len ? err : enter(inode, &last);
}

/* Looks up a name; NULL if it does not exist. Returns 0 also in that case, otherwise -errno. */
static int look(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	int err = dir->ops->lookup(dir, name, inode);

	if (err)
		*inode = NULL;
	return err == -ENOENT ? 0 : err;
}

static int make_once(struct inode *dir, const struct path_name *name, u32 mode, u32 rdev,
		     const char *target, struct inode *linked)
{
	struct inode *inode;
	int err = look(dir, name, &inode);

	if (err)
		return err;
	if (inode) {
		inode_put(inode);
		return -EEXIST;
	}
	mutex_lock(&dir->lock);
	if (linked)
		err = dir->ops->link(dir, name, linked);
	else
		err = dir->ops->create(dir, name, mode, rdev, target, &inode);
	mutex_unlock(&dir->lock);
	if (!err && !linked)
		inode_put(inode);
	return err;
}

static int make(struct inode *dir, const struct path_name *name, u32 mode, u32 rdev,
		const char *target, struct inode *linked)
{
	int err;

	do {
		log_begin(&host_sb);
		err = make_once(dir, name, mode, rdev, target, linked);
	} while (log_end(&host_sb, err));
	return err;
}

int host_create(const char *path, u32 mode, u32 rdev, const char *target)
{
	struct path_name name;
	struct inode *dir;
	int err = host_walk_parent(path, &dir, &name);

	if (err)
		return err;
	err = host_sb.read_only ? -EROFS : make(dir, &name, mode, rdev, target, NULL);
	inode_put(dir);
	return err;
}

int host_link(const char *from, const char *to)
{
	struct path_name name;
	struct inode *dir, *inode;
	int err = host_walk(from, &inode);

	if (err)
		return err;
	err = host_walk_parent(to, &dir, &name);
	if (!err) {
		err = ext2_kind(inode) == S_IFDIR ? -EPERM : make(dir, &name, 0, 0, NULL, inode);
		inode_put(dir);
	}
	inode_put(inode);
	return err;
}

static int unlink_locked(struct inode *dir, const struct path_name *name, struct inode *inode)
{
	int err;

	mutex_lock(&inode->lock);
	err = dir->ops->unlink(dir, name, inode);
	mutex_unlock(&inode->lock);
	return err;
}

int host_remove(const char *path, bool is_dir)
{
	struct path_name name;
	struct inode *dir, *inode;
	int err = host_walk_parent(path, &dir, &name);

	if (err)
		return err;
	log_begin(&host_sb);
	err = dir->ops->lookup(dir, &name, &inode);
	if (!err) {
		mutex_lock(&dir->lock);
		if (inode->state & INODE_SWAP)
			err = -EPERM;
		else if ((ext2_kind(inode) == S_IFDIR) != is_dir)
			err = is_dir ? -ENOTDIR : -EISDIR;
		else
			err = unlink_locked(dir, &name, inode);
		mutex_unlock(&dir->lock);
		inode_put(inode);
	}
	log_end(&host_sb, err);
	inode_put(dir);
	return err;
}

struct rename {
	struct inode *from, *to, *inode, *replaced;
	struct path_name old, new;
};

static bool is_below(const char *path, const char *dir)
{
	return !strncmp(path, dir, strlen(dir)) && path[strlen(dir)] == '/';
}

static int rename_checked(struct rename *r, const char *from, const char *to)
{
	bool is_dir = ext2_kind(r->inode) == S_IFDIR;
	int err;

	if (r->replaced == r->inode)
		return 0;
	if (is_below(to, from))
		return -EINVAL;
	if (is_below(from, to))
		return -ENOTEMPTY;
	if ((r->inode->state | (r->replaced ? r->replaced->state : 0)) & INODE_SWAP)
		return -EPERM;
	if (r->replaced && is_dir != (ext2_kind(r->replaced) == S_IFDIR))
		return is_dir ? -ENOTDIR : -EISDIR;
	mutex_lock(&r->from->lock);
	if (r->to != r->from)
		mutex_lock(&r->to->lock);
	err = r->from->ops->rename(r->from, &r->old, r->to, &r->new, r->inode, r->replaced);
	if (r->to != r->from)
		mutex_unlock(&r->to->lock);
	mutex_unlock(&r->from->lock);
	return err;
}

static int rename_in(struct rename *r, const char *from, const char *to)
{
	int err = r->from->ops->lookup(r->from, &r->old, &r->inode);

	if (err)
		return err;
	err = look(r->to, &r->new, &r->replaced);
	if (!err)
		err = rename_checked(r, from, to);
	if (r->replaced)
		inode_put(r->replaced);
	inode_put(r->inode);
	return err;
}

int host_rename(const char *from, const char *to)
{
	struct rename r;
	int err;

	err = host_walk_parent(from, &r.from, &r.old);
	if (err)
		return err;
	err = host_walk_parent(to, &r.to, &r.new);
	if (!err) {
		do {
			log_begin(&host_sb);
			err = rename_in(&r, from, to);
		} while (log_end(&host_sb, err));
		inode_put(r.to);
	}
	inode_put(r.from);
	return err;
}
