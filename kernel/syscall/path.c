/* Copying in paths, and the directories that relative paths start from. */
#include "arch/uaccess.h"
#include "errno.h"
#include "fs/files.h"
#include "internal.h"
#include "mm/slab.h"
#include "sched/current.h"

inline int path_base(int dirfd, const char *name, struct inode **base)
{
	struct file *f;

	*base = NULL;
	if (dirfd == AT_FDCWD || name[0] == '/')
		return 0;
	f = fd_place(dirfd);
	if (!f)
		return -EBADF;
	if ((f->inode->mode & S_IFMT) != S_IFDIR)
		return -ENOTDIR;
	*base = f->inode;
	return 0;
}

/* Only current uses its working directory, so another directory can replace it for one call. */
static int lend_cwd(struct user_path *p, int dirfd)
{
	struct inode *base;
	int err = path_base(dirfd, p->name, &base);

	p->lent = !err && base;
	if (!p->lent)
		return err;
	p->cwd = current->cwd;
	current->cwd = base;
	return 0;
}

/* Buffers for most calls, which saves them an allocation. */
static struct {
	char path[PATH_MAX];
	bool taken;
} spare[2];

static char *get_path(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(spare); i++)
		if (!spare[i].taken) {
			spare[i].taken = true;
			return spare[i].path;
		}
	return kmalloc(PATH_MAX, GFP_KERNEL);
}

void path_free(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(spare); i++)
		if (spare[i].path == name) {
			spare[i].taken = false;
			return;
		}
	kfree(name);
}

inline int path_copy(const char *user, char **name)
{
	int n;

	*name = get_path();
	if (!*name)
		return -ENOMEM;
	n = strncpy_from_user(*name, user, PATH_MAX);
	if (n > 0)
		return 0;
	path_free(*name);
	return n ? n : -ENOENT;
}

int path_begin(struct user_path *p, int dirfd, const char *user)
{
	int err = path_copy(user, &p->name);

	if (err)
		return err;
	err = lend_cwd(p, dirfd);
	if (err)
		path_free(p->name);
	return err;
}

void path_end(struct user_path *p)
{
	if (p->lent)
		current->cwd = p->cwd;
	path_free(p->name);
}
