/* Copying in paths, and the directories that relative paths start from. */
#include "arch/uaccess.h"
#include "errno.h"
#include "fs/vfs.h"
#include "internal.h"
#include "mm/slab.h"
#include "sched/current.h"

/* Stores the inode where a path starts; NULL: the working directory or the root. Returns 0, -EBADF
 * or -ENOTDIR. */
static int base_of(int dirfd, const char *name, struct inode **base)
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
	int err = base_of(dirfd, p->name, &base);

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

static void free_path(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(spare); i++)
		if (spare[i].path == name) {
			spare[i].taken = false;
			return;
		}
	kfree(name);
}

/* Copies in a path, to be freed by free_path. Returns 0 or -errno. */
static inline int copy_path(const char *user, char **name)
{
	int n;

	*name = get_path();
	if (!*name)
		return -ENOMEM;
	n = strncpy_from_user(*name, user, PATH_MAX);
	if (n > 0)
		return 0;
	free_path(*name);
	return n ? n : -ENOENT;
}

int path_begin(struct user_path *p, int dirfd, const char *user)
{
	int err = copy_path(user, &p->name);

	if (err)
		return err;
	err = lend_cwd(p, dirfd);
	if (err)
		free_path(p->name);
	return err;
}

int place_begin(struct path_at *p, int dirfd, const char *user)
{
	char *name;
	int err = copy_path(user, &name);

	if (err)
		return err;
	p->name = name;
	err = base_of(dirfd, name, &p->base);
	if (err)
		free_path(name);
	return err;
}

void place_end(struct path_at *p)
{
	free_path(p->name);
}

void path_end(struct user_path *p)
{
	if (p->lent)
		current->cwd = p->cwd;
	free_path(p->name);
}
