/*
 * /proc: the kernel's state as text.
 *
 * Names known at boot (registered tables) are ordinary dentries, in directories that only the
 * kernel fills. A process directory is created by a lookup: an inode that stores a pid, without a
 * dentry. It finds its task again by the pid at each use, so it never points to a task that no
 * longer exists (-ESRCH then).
 *
 * The whole text of a file is generated when it is read from position 0, into a buffer that is
 * doubled until the text fits, up to MAX_TEXT, where the rest is cut off. So a reader sees one
 * moment, and seeking to the start generates a new text. The show functions do not sleep.
 * Concurrent readers share a text, and the last one frees it.
 */
#include "procfs.h"

#include "internal.h"

#include "arch/uaccess.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "sched/task.h"

#define MIN_TEXT 1024u
#define MAX_TEXT (128u << 10) /* kmalloc's limit */
#define MAX_STORE 4096u
#define MAX_PID_TABLES 8

struct proc_text {
	u32 count; /* the open file, and readers that are copying */
	u32 len;
	char text[];
};

static struct inode *proc_root;
static const struct proc_pid_file *pid_tables[MAX_PID_TABLES];
static u32 nr_pid_tables;

static const struct file_operations proc_file_fops, proc_pid_fops;

/* Files. */

static void text_put(struct proc_text *text)
{
	if (text && !--text->count)
		kfree(text);
}

/* Prints the file into m. Returns 0 or -ESRCH. */
static int show_file(const struct inode *inode, struct seq_file *m)
{
	const struct proc_pid_file *pid_file = inode->private;
	const struct proc_file *file = inode->private;
	struct task_struct *t;

	if (inode->fops == &proc_file_fops) {
		file->show(m);
		return 0;
	}
	t = task_find(inode->private_id);
	if (!t)
		return -ESRCH;
	pid_file->show(m, t);
	return 0;
}

static int make_text(const struct inode *inode, struct proc_text **made)
{
	u32 size = MIN_TEXT;

	for (;;) {
		struct proc_text *text = kmalloc(size, GFP_KERNEL | GFP_NORETRY);
		struct seq_file m;
		int err;

		if (!text)
			return -ENOMEM;
		seq_init(&m, text->text, size - sizeof(*text));
		err = show_file(inode, &m);
		if (err) {
			kfree(text);
			return err;
		}
		text->count = 1;
		text->len = m.count;
		*made = text;
		if (!m.overflow || size == MAX_TEXT)
			return 0;
		kfree(text);
		size *= 2;
	}
}

static long proc_read(struct file *f, void *user, size_t n, u64 *pos)
{
	struct proc_text *text;
	long ret;

	if (!*pos || !f->private) {
		int err = make_text(f->inode, &text);

		if (err)
			return err;
		text_put(f->private);
		f->private = text;
	}
	text = f->private;
	if (*pos >= text->len)
		return 0;
	text->count++;
	ret = MIN(n, text->len - (u32)*pos);
	if (copy_to_user(user, text->text + (u32)*pos, ret))
		ret = -EFAULT;
	else
		*pos += ret;
	text_put(text);
	return ret;
}

static long proc_write(struct file *f, const void *user, size_t n, u64 *pos)
{
	const struct proc_file *file = f->inode->private;
	char *text;
	int err;

	if (n >= MAX_STORE)
		return -EINVAL;
	text = kmalloc(n + 1, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	err = copy_from_user(text, user, n);
	if (!err) {
		text[n] = '\0';
		if (n && text[n - 1] == '\n')
			text[n - 1] = '\0';
		err = *text ? file->store(text) : 0; /* C libraries send a separate newline */
	}
	kfree(text);
	if (err)
		return err;
	*pos += n;
	return n;
}

static int proc_open(struct file *f)
{
	const struct proc_file *file = f->inode->private;

	u32 mode = f->flags & O_ACCMODE;

	if (mode != O_WRONLY && !file->show)
		return -EACCES;
	return mode == O_RDONLY || file->store ? 0 : -EACCES;
}

static int proc_pid_open(struct file *f)
{
	return (f->flags & O_ACCMODE) == O_RDONLY ? 0 : -EACCES;
}

static void proc_release(struct file *f)
{
	text_put(f->private);
}

/* The process directories. */

static u32 pid_ino(int pid, u32 index)
{
	return 1u << 28 | (u32)pid << 8 | index;
}

/* Finds name number `index` of /proc/<pid> and sets *file or *link. Returns false if there is
 * none. */
static bool pid_entry(u32 index, const struct proc_pid_file **file,
		      const struct proc_pid_link **link)
{
	*file = NULL;
	*link = NULL;
	for (u32 i = 0; i < nr_pid_tables; i++)
		for (const struct proc_pid_file *p = pid_tables[i]; p->name; p++)
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

/* Registration. */

static const struct file_operations proc_file_fops = {
	.read = proc_read,
	.write = proc_write,
	.open = proc_open,
	.release = proc_release,
};

static const struct file_operations proc_pid_fops = {
	.read = proc_read,
	.open = proc_pid_open,
	.release = proc_release,
};

static const struct inode_operations self_ops = { .readlink = self_readlink };

static const struct inode_operations root_ops = {
	.lookup = root_lookup,
	.iterate = root_iterate,
};

static struct inode *make_inode(u32 mode)
{
	struct inode *inode = inode_alloc(&proc_sb, mode);

	if (!inode)
		panic("procfs: no memory");
	inode->fops = &dir_fops;
	inode->nlink = 1 + inode_is_dir(inode);
	return inode;
}

static struct inode *add_entry(struct inode *dir, const struct path_name *name, u32 mode)
{
	struct inode *inode = make_inode(mode);
	struct dentry *d = dentry_new(name);

	if (!d || dentry_find(dir, name))
		panic("procfs: cannot make %s", name->s);
	dentry_link(dir, d, inode);
	dir->nlink += inode_is_dir(inode);
	inode_put(inode);
	return inode;
}

static void add_file(const struct proc_file *file)
{
	struct inode *dir = proc_root, *inode;
	const char *path = file->path;
	struct path_name name;
	struct dentry *d;

	while (path_next(&path, &name) && !path_at_end(path)) {
		d = dentry_find(dir, &name);
		dir = d ? d->inode : add_entry(dir, &name, S_IFDIR | 0555);
	}
	inode = add_entry(dir, &name, S_IFREG | (file->show ? 0444 : 0) | (file->store ? 0200 : 0));
	inode->fops = &proc_file_fops;
	inode->private = (void *)file;
}

static void make_root(void)
{
	const struct path_name self = path_name_of("self");

	if (proc_root)
		return;
	proc_root = make_inode(S_IFDIR | 0555);
	proc_root->ops = &root_ops;
	proc_sb.root = proc_root;
	add_entry(proc_root, &self, S_IFLNK | 0777)->ops = &self_ops;
	mount_at_boot(&proc_sb, "proc");
}

void proc_register(const struct proc_file *table)
{
	make_root();
	for (; table->path; table++)
		add_file(table);
}

void proc_register_pid(const struct proc_pid_file *table)
{
	if (nr_pid_tables == MAX_PID_TABLES)
		panic("procfs: too many tables");
	pid_tables[nr_pid_tables++] = table;
}

void procfs_init(void)
{
	make_root();
	proc_base_init();
	proc_disks_init();
	proc_pid_init();
	shrink_init();
}
