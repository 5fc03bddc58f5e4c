/* The working directory and the root of a program, which can change both, and the path of the first. */
#include "internal.h"

#include "lib/string.h"
#include "sched/current.h"

/* Replaces one of current's directories by that of a path. */
static int replace(struct inode **of_task, const char *path)
{
	struct inode *dir, *old = *of_task;
	int err = vfs_lookup(path, true, &dir);

	if (err)
		return err;
	if (!inode_is_dir(dir)) {
		inode_put(dir);
		return -ENOTDIR;
	}
	*of_task = dir;
	if (old)
		inode_put(old);
	return 0;
}

int vfs_chdir(const char *path)
{
	return replace(&current->cwd, path);
}

int vfs_chroot(const char *path)
{
	return replace(&current->root, path);
}

int vfs_getcwd(char *buf, size_t n)
{
	int err = vfs_path_of(working_directory(), buf, n);

	return err ? err : (int)strlen(buf) + 1;
}
