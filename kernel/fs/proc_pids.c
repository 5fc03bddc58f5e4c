/*
 * The directories of processes in /proc. A lookup creates one: an inode that stores a pid, without
 * a dentry. It finds its task again by the pid at each use, so it never points to a task that no
 * longer exists (-ESRCH then).
 */
#include "procfs.h"

#include "internal.h"

#include "lib/printf.h"
#include "lib/string.h"
#include "sched/task.h"

extern const struct proc_pid_file *const __proc_pid_files_start[], *const __proc_pid_files_end[];

static u32 pid_ino(int pid, u32 index)
{
	return 1u << 28 | (u32)pid << 8 | index;
}

/* Finds name number `index` of /proc/<pid> and sets *file or *link. Returns false if there is
 * none. */
static bool pid_entry(u32 index, const struct proc_pid_file **file,
		      const struct proc_pid_link **link)
{
	const struct proc_pid_file *const *t;

	*file = NULL;
	*link = NULL;
	for (t = __proc_pid_files_start; t < __proc_pid_files_end; t++)
		for (const struct proc_pid_file *p = *t; p->name; p++)
			if (!index--) {
				*file = p;
				return true;
			}
	for (const struct proc_pid_link *p = proc_pid_links; p->name; p++)
		if (!index--) {
			*link = p;
			return true;
		}
	return false;
}

static int pid_readlink(struct inode *inode, char *buf, size_t size)
{
	const struct proc_pid_link *link = inode->private;
	struct task_struct *t = task_find(inode->private_id);
	struct inode *target = t ? link->target(t) : NULL;

	return target ? vfs_path_of(target, buf, size) : -ENOENT;
}

static const struct inode_operations pid_link_ops = { .readlink = pid_readlink };

static int pid_dir_lookup(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	const struct proc_pid_file *file;
	const struct proc_pid_link *link;
	u32 i = 0;

	for (;; i++) {
		if (!pid_entry(i, &file, &link))
			return -ENOENT;
		if (path_name_is(name, file ? file->name : link->name))
			break;
	}
	*inode = inode_alloc(&proc_sb, file ? S_IFREG | 0444 : S_IFLNK | 0777);
	if (!*inode)
		return -ENOMEM;
	(*inode)->ino = pid_ino(dir->private_id, i + 1);
	(*inode)->nlink = 1;
	(*inode)->private_id = dir->private_id;
	(*inode)->private = file ? (void *)file : (void *)link;
	if (file)
		(*inode)->fops = &proc_pid_fops;
	else
		(*inode)->ops = &pid_link_ops;
	return 0;
}

/* Fills in an entry. */
static int entry(struct dir_entry *e, const char *name, u32 ino, u32 mode, u64 next)
{
	e->len = strlcpy(e->name, name, sizeof(e->name));
	e->ino = ino;
	e->mode = mode;
	e->next = next;
	return 0;
}

static int pid_dir_iterate(struct inode *dir, u64 cursor, struct dir_entry *e)
{
	const struct proc_pid_file *file;
	const struct proc_pid_link *link;

	if (!task_find(dir->private_id) || !pid_entry(cursor, &file, &link))
		return -ENOENT;
	cursor++;
	return entry(e, file ? file->name : link->name, pid_ino(dir->private_id, cursor),
		     file ? S_IFREG : S_IFLNK, cursor);
}

static const struct inode_operations pid_dir_ops = {
	.lookup = pid_dir_lookup,
	.iterate = pid_dir_iterate,
};

/* Parses a decimal number without leading zeros. Returns -1 if invalid. */
static int parse_pid(const char *s, size_t len)
{
	int pid = 0;

	if (!len || len > 7 || *s == '0')
		return -1;
	for (; len; s++, len--) {
		if (*s < '0' || *s > '9')
			return -1;
		pid = pid * 10 + (*s - '0');
	}
	return pid;
}

static int root_lookup(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	int pid = parse_pid(name->s, name->len);

	if (pid < 0 || !task_find(pid))
		return -ENOENT;
	*inode = inode_alloc(&proc_sb, S_IFDIR | 0555);
	if (!*inode)
		return -ENOMEM;
	(*inode)->ino = pid_ino(pid, 0);
	(*inode)->nlink = 2;
	(*inode)->fops = &dir_fops;
	(*inode)->parent = dir;
	(*inode)->ops = &pid_dir_ops;
	(*inode)->private_id = pid;
	return 0;
}

/* Iterates in order of pid, so that new or exited tasks do not shift the others. */
static int root_iterate(struct inode *dir, u64 cursor, struct dir_entry *e)
{
	struct task_struct *t, *first = NULL;
	char name[12];

	(void)dir;
	for_each_task(t)
		if ((u32)t->pid >= cursor && (!first || t->pid < first->pid))
			first = t;
	if (!first)
		return -ENOENT;
	snprintf(name, sizeof(name), "%d", first->pid);
	return entry(e, name, pid_ino(first->pid, 0), S_IFDIR, first->pid + 1);
}

static int self_readlink(struct inode *inode, char *buf, size_t size)
{
	(void)inode;
	return snprintf(buf, size, "%d", current->pid) < (int)size ? 0 : -ERANGE;
}

const struct inode_operations proc_self_ops = { .readlink = self_readlink };

const struct inode_operations proc_root_ops = {
	.lookup = root_lookup,
	.iterate = root_iterate,
};
