/*
 * execve: the new program, its address space and stack, is complete before the old one is given up,
 * so any failure leaves the caller unchanged. After the switch nothing can fail.
 *
 * A file that begins with #! names its interpreter, which runs with the file's path as argument.
 * The interpreter itself must be an ELF program.
 */
#include "errno.h"
#include "fs/vfs.h"
#include "internal.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "mm/slab.h"
#include "observe/events.h"

/* An executable file and its first bytes, which contain the headers. */
struct program {
	struct inode *inode;
	char *head;
	size_t n;
	struct elf_image image;
};

static void program_close(struct program *p)
{
	if (p->inode)
		inode_put(p->inode);
	kfree(p->head);
	p->inode = NULL;
	p->head = NULL;
}

static int program_open(struct program *p, const char *path)
{
	struct inode *inode;
	long n;
	int err;

	*p = (struct program){ .inode = NULL };
	err = vfs_lookup(path, true, &inode);
	if (err)
		return err;
	p->inode = inode;
	if ((p->inode->mode & S_IFMT) != S_IFREG || !(p->inode->mode & 0111))
		return -EACCES;
	if (p->inode->nr_writers)
		return -ETXTBSY;
	p->head = kmalloc(ELF_HEAD_SIZE, GFP_KERNEL);
	if (!p->head)
		return -ENOMEM;
	n = vfs_read_kernel(p->inode, 0, p->head, ELF_HEAD_SIZE);
	if (n < 0)
		return n;
	p->n = n;
	return 0;
}

static char *skip_blanks(char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* Splits "#! interpreter [argument]" in place. */
static int parse_script(char *line, size_t n, char **interpreter, char **arg)
{
	char *end = memchr(line, '\n', MIN(n, (size_t)PATH_MAX)), *p = line + 2;

	if (!end)
		return -ENOEXEC;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	*end = '\0';
	p = skip_blanks(p);
	*interpreter = p;
	while (*p && *p != ' ' && *p != '\t')
		p++;
	*arg = NULL;
	if (*p) {
		*p++ = '\0';
		*arg = skip_blanks(p);
	}
	return **interpreter ? 0 : -ENOEXEC;
}

/* Changes the arguments to: interpreter [argument] path old-arguments-after-the-first. */
static int use_interpreter(struct program *p, struct exec_args *args, const char *path)
{
	struct program interpreter;
	char *name, *arg;
	int err = parse_script(p->head, p->n, &name, &arg);

	if (!err)
		err = args_push_front(args, path, true);
	if (!err && arg)
		err = args_push_front(args, arg, false);
	if (!err)
		err = args_push_front(args, name, false);
	if (err)
		return err;
	err = program_open(&interpreter, name);
	program_close(p);
	*p = interpreter;
	return err;
}

static int build(struct program *p, struct exec_args *args, const char *path, struct mm_struct *mm,
		 u32 *sp)
{
	int err = elf_load(mm, p->inode, &p->image);

	if (!err && p->inode->nr_writers) /* opened since; no longer possible now */
		err = -ETXTBSY;
	return err ? err : args_build_stack(args, mm, &p->image, path, sp);
}

static void set_comm(struct task_struct *t, const char *path)
{
	const char *slash = strrchr(path, '/');

	task_set_comm(t, slash ? slash + 1 : path);
}

/* The point of no return. */
static void become(struct mm_struct *mm, const struct elf_image *image, u32 sp, const char *path)
{
	struct task_struct *t = current;
	struct mm_struct *old = t->mm;

	mm_attach(t, mm);
	if (old)
		mm_destroy(old);
	signal_exec(t);
	files_close_on_exec(t->files);
	t->flags &= ~TF_KTHREAD;
	psi_task_changed(t, cycles_now());
	set_comm(t, path);
	event_new_mm(t);
	thread_init_exec(image->entry, sp);
}

static int exec_program(struct program *p, struct exec_args *args, const char *path)
{
	struct mm_struct *mm;
	u32 sp;
	int err;

	if (p->n >= 2 && p->head[0] == '#' && p->head[1] == '!') {
		err = use_interpreter(p, args, path);
		if (err)
			return err;
	}
	err = elf_parse(p->head, p->n, p->inode->size, &p->image);
	if (err)
		return err;
	mm = mm_create();
	if (!mm)
		return -ENOMEM;
	err = build(p, args, path, mm, &sp);
	if (err) {
		mm_destroy(mm);
		return err;
	}
	become(mm, &p->image, sp, path);
	return 0;
}

int do_execve(const char *path, char *const *argv, char *const *envp, bool kernel_args)
{
	struct exec_args args;
	struct program program = { .inode = NULL };
	int err = args_copy(&args, argv, envp, kernel_args);

	if (!err)
		err = program_open(&program, path);
	if (!err)
		err = exec_program(&program, &args, path);
	program_close(&program);
	args_free(&args);
	return err;
}
