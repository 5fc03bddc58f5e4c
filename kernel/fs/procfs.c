/*
 * /proc: the kernel's state as text.
 *
 * Names known at boot (registered tables) are ordinary dentries, in directories that only the
 * kernel fills. proc_pids.c makes the directories of processes.
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
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "sched/task.h"

#define MIN_TEXT 1024u
#define MAX_TEXT (128u << 10) /* kmalloc's limit */
#define MAX_STORE 4096u

struct proc_text {
	u32 count; /* the open file, and readers that are copying */
	u32 len;
	char text[];
};

static struct inode *proc_root;
extern const struct proc_file *const __proc_files_start[], *const __proc_files_end[];

static const struct file_operations proc_file_fops;

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

/* Registration. */

static const struct file_operations proc_file_fops = {
	.read = proc_read,
	.write = proc_write,
	.open = proc_open,
	.release = proc_release,
};

const struct file_operations proc_pid_fops = {
	.read = proc_read,
	.open = proc_pid_open,
	.release = proc_release,
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

	proc_root = make_inode(S_IFDIR | 0555);
	proc_root->ops = &proc_root_ops;
	proc_sb.root = proc_root;
	add_entry(proc_root, &self, S_IFLNK | 0777)->ops = &proc_self_ops;
	mount_at_boot(&proc_sb, "proc");
}

static void procfs_init(void)
{
	const struct proc_file *const *t;

	make_root();
	for (t = __proc_files_start; t < __proc_files_end; t++)
		for (const struct proc_file *file = *t; file->path; file++)
			add_file(file);
}

AT_STAGE(files, 10, procfs_init);
