/* The working directory: a program changes it, and asks for its path. */
#include "internal.h"

#include "lib/string.h"
#include "sched/current.h"

int vfs_chdir(const char *path)
{
	struct inode *dir, *old = current->cwd;
	int err = vfs_lookup(path, true, &dir);

	if (err)
		return err;
	if (!inode_is_dir(dir)) {
		inode_put(dir);
		return -ENOTDIR;
	}
	current->cwd = dir;
	if (old)
		inode_put(old);
	return 0;
}

int vfs_getcwd(char *buf, size_t n)
{
	int err = vfs_path_of(working_directory(), buf, n);

	return err ? err : (int)strlen(buf) + 1;
}
