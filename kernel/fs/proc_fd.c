/*
 * /proc/<pid>/fd: a link for each open descriptor. A walk that follows it jumps to the inode, so
 * opening it opens the same file again, also one that has no name (any more): a new open file with
 * its own position and flags, as on Linux. /dev/fd, /dev/stdin, /dev/stdout and /dev/stderr lead
 * here.
 */
#include "procfs.h"

#include "fs/files.h"
#include "internal.h"

#include "lib/assert.h"
#include "lib/printf.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "sched/task.h"

/* Returns the open file of a descriptor of a process, or NULL. */
static struct file *open_file(int pid, u32 fd)
{
	struct task_struct *t = task_find(pid);

	return t && t->files && fd < t->files->nr ? t->files->fd[fd] : NULL;
}

static struct file *file_of_link(const struct inode *link)
{
	return open_file(link->private_id, (u32)link->private);
}

static int fd_readlink(struct inode *link, char *buf, size_t size)
{
	struct file *f = file_of_link(link);

	return f ? proc_link_text(f->inode, buf, size) : -ENOENT;
}

static int fd_jump(struct inode **link)
{
	struct file *f = file_of_link(*link);
	struct inode *target = f ? f->inode : NULL;

	if (target)
		inode_get(target);
	inode_put(*link);
	*link = target;
	return target ? 0 : -ENOENT;
}

static const struct inode_operations fd_link_ops = { .readlink = fd_readlink, .jump = fd_jump };

/* The mode of a link tells how the file is open. */
static u32 link_mode(const struct file *f)
{
	if (f->flags & O_PATH)
		return S_IFLNK;
	return S_IFLNK | 0100 | (file_may_read(f) ? 0400 : 0) | (file_may_write(f) ? 0200 : 0);
}

static int fd_lookup(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	int fd = proc_parse_number(name);
	struct file *f = fd < 0 ? NULL : open_file(dir->private_id, fd);

	if (!f)
		return -ENOENT;
	*inode = proc_pid_inode(dir, link_mode(f), PROC_FD_INDEX + fd);
	if (!*inode)
		return -ENOMEM;
	(*inode)->private = (void *)(u32)fd;
	(*inode)->size = 64;
	(*inode)->ops = &fd_link_ops;
	return 0;
}

static int fd_iterate(struct inode *dir, u64 cursor, struct dir_entry *e)
{
	char name[12];
	struct task_struct *t = task_find(dir->private_id);
	u32 end = t && t->files ? t->files->nr : 0, fd = MIN(cursor, end);

	while (fd < end && !t->files->fd[fd])
		fd++;
	if (fd == end)
		return -ENOENT;
	snprintf(name, sizeof(name), "%u", fd);
	return proc_entry(e, name, proc_pid_ino(dir->private_id, PROC_FD_INDEX + fd), S_IFLNK,
			  fd + 1);
}

static const struct inode_operations fd_dir_ops = { .lookup = fd_lookup, .iterate = fd_iterate };

static const struct proc_pid_file files[] = { { .name = "fd", .dir = &fd_dir_ops }, { 0 } };

PROC_PID_FILES(files);

/* The names in /dev. */

static void link_in_dev(const char *name, const char *target)
{
	struct inode *link = ramfs_symlink(&dev_sb, target, strlen(target));

	if (!link)
		panic("dev: no memory");
	dev_register(name, link);
	inode_put(link);
}

static void fd_names_init(void)
{
	link_in_dev("fd", "/proc/self/fd");
	link_in_dev("stdin", "/proc/self/fd/0");
	link_in_dev("stdout", "/proc/self/fd/1");
	link_in_dev("stderr", "/proc/self/fd/2");
}

AT_STAGE(files, 30, fd_names_init);
