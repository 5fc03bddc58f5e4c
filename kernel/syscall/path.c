/* Paths on their way in, and directories that relative ones begin at. */
#include "arch/uaccess.h"
#include "errno.h"
#include "fs/vfs.h"
#include "internal.h"
#include "mm/slab.h"
#include "proc/task.h"

/* The working directory is current's alone, so another may take its place for one call. */
static int lend_cwd(struct user_path *p, int dirfd)
{
	struct file *f;

	p->lent = false;
	if (dirfd == AT_FDCWD || p->name[0] == '/')
		return 0;
	f = fd_place(dirfd);
	if (!f)
		return -EBADF;
	if ((f->inode->mode & S_IFMT) != S_IFDIR)
		return -ENOTDIR;
	p->cwd = current->cwd;
	p->lent = true;
	current->cwd = f->inode;
	return 0;
}

int path_begin(struct user_path *p, int dirfd, const char *user)
{
	int n;

	p->name = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!p->name)
		return -ENOMEM;
	n = strncpy_from_user(p->name, user, PATH_MAX);
	if (n > 0)
		n = lend_cwd(p, dirfd);
	else if (!n)
		n = -ENOENT;
	if (n)
		kfree(p->name);
	return n;
}

void path_end(struct user_path *p)
{
	if (p->lent)
		current->cwd = p->cwd;
	kfree(p->name);
}
