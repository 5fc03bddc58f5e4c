/*
 * The directories of processes in /proc. A lookup creates one: an inode that stores a pid, without
 * a dentry. It finds its task again by the pid at each use, so it never points to a task that no
 * longer exists (-ESRCH then).
 */
#include "procfs.h"

#include "fs/files.h"
#include "internal.h"

#include "lib/printf.h"
#include "lib/string.h"
#include "sched/task.h"

extern const struct proc_pid_file *const __proc_pid_files_start[], *const __proc_pid_files_end[];

#define PID_INO_SHIFT 11
STATIC_ASSERT(PROC_FD_INDEX + NR_OPEN <= 1u << PID_INO_SHIFT);
STATIC_ASSERT(PID_MAX < 1u << (28 - PID_INO_SHIFT));

u32 proc_pid_ino(int pid, u32 index)
{
	return 1u << 28 | (u32)pid << PID_INO_SHIFT | index;
}

static void put_parent(struct inode *inode)
{
	inode_put(inode->parent);
}

struct inode *proc_pid_inode(struct inode *dir, u32 mode, u32 index)
{
	struct inode *inode = inode_alloc(&proc_sb, mode);

	if (!inode)
		return NULL;
	inode->ino = proc_pid_ino(dir->private_id, index);
	inode->nlink = 1 + inode_is_dir(inode);
	inode->private_id = dir->private_id;
	inode->parent = dir; /* counted, because no dentry holds it */
	inode->evict = put_parent;
	inode_get(dir);
	return inode;
}

int proc_entry(struct dir_entry *e, const char *name, u32 ino, u32 mode, u64 next)
{
	e->len = strlcpy(e->name, name, sizeof(e->name));
	e->ino = ino;
	e->mode = mode;
	e->next = next;
	return 0;
}

int proc_parse_number(const struct path_name *name)
{
	int number = 0;

	if (!name->len || name->len > 7 || (*name->s == '0' && name->len > 1))
		return -1;
	for (const char *s = name->s; s < name->s + name->len; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		number = number * 10 + (*s - '0');
	}
	return number;
}

/* Links. */

int proc_link_text(struct inode *target, char *buf, size_t size)
{
	int err, n;

	if (target->sb == &pipe_sb) {
		n = snprintf(buf, size, "pipe:[%u]", target->ino);
	} else if (target->sb->unnamed) {
		n = snprintf(buf, size, "%s (deleted)", (char *)target->private);
	} else {
		err = vfs_path_of(target, buf, size);
		if (err != -ENOENT)
			return err;
		n = snprintf(buf, size, "(deleted)");
	}
	return n < (int)size ? 0 : -ERANGE;
}

static struct inode *link_target(const struct inode *link)
{
	const struct proc_pid_file *entry = link->private;
	struct task_struct *t = task_find(link->private_id);

	return t ? entry->target(t) : NULL;
}

static int link_readlink(struct inode *link, char *buf, size_t size)
{
	struct inode *target = link_target(link);

	return target ? proc_link_text(target, buf, size) : -ENOENT;
}

static int link_jump(struct inode **link)
{
	struct inode *target = link_target(*link);

	if (target)
		inode_get(target);
	inode_put(*link);
	*link = target;
	return target ? 0 : -ENOENT;
}

static const struct inode_operations link_ops = { .readlink = link_readlink, .jump = link_jump };

/* The directory of a process. */

/* Returns entry number `index` of /proc/<pid>, or NULL. */
static const struct proc_pid_file *entry_at(u32 index)
{
	const struct proc_pid_file *const *t;

	for (t = __proc_pid_files_start; t < __proc_pid_files_end; t++)
		for (const struct proc_pid_file *p = *t; p->name; p++)
			if (!index--)
				return p;
	return NULL;
}

static u32 mode_of(const struct proc_pid_file *entry)
{
	if (entry->dir)
		return S_IFDIR | 0500;
	return entry->target ? S_IFLNK | 0777 : S_IFREG | 0444;
}

static int pid_dir_lookup(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	const struct proc_pid_file *entry;
	u32 i = 0;

	while ((entry = entry_at(i)) && !path_name_is(name, entry->name))
		i++;
	if (!entry)
		return -ENOENT;
	*inode = proc_pid_inode(dir, mode_of(entry), i + 1);
	if (!*inode)
		return -ENOMEM;
	(*inode)->private = (void *)entry;
	if (entry->dir)
		(*inode)->ops = entry->dir;
	else if (entry->target)
		(*inode)->ops = &link_ops;
	(*inode)->fops = entry->dir ? &dir_fops : entry->target ? NULL : &proc_pid_fops;
	return 0;
}

static int pid_dir_iterate(struct inode *dir, u64 cursor, struct dir_entry *e)
{
	const struct proc_pid_file *entry = entry_at(cursor);

	if (!entry || !task_find(dir->private_id))
		return -ENOENT;
	cursor++;
	return proc_entry(e, entry->name, proc_pid_ino(dir->private_id, cursor),
			  mode_of(entry) & S_IFMT, cursor);
}

static const struct inode_operations pid_dir_ops = {
	.lookup = pid_dir_lookup,
	.iterate = pid_dir_iterate,
};

/* The root of /proc. */

static int root_lookup(struct inode *dir, const struct path_name *name, struct inode **inode)
{
	int pid = proc_parse_number(name);

	if (pid <= 0 || !task_find(pid))
		return -ENOENT;
	*inode = inode_alloc(&proc_sb, S_IFDIR | 0555);
	if (!*inode)
		return -ENOMEM;
	(*inode)->ino = proc_pid_ino(pid, 0);
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
	return proc_entry(e, name, proc_pid_ino(first->pid, 0), S_IFDIR, first->pid + 1);
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
