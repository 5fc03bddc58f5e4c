/*
 * execve: the new program, its address space and stack, is complete before the old one is given up,
 * so any failure leaves the caller unchanged. After the switch nothing can fail.
 *
 * A file that begins with #! names its interpreter (script.c), which runs with the file's path as
 * argument.
 *
 * A dynamically linked program names its dynamic linker, which is mapped, too, and runs first: it
 * maps the libraries and then jumps to the program.
 */
#include "errno.h"
#include "fs/files.h"
#include "internal.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "mm/slab.h"
#include "observe/events.h"

int (*exec_script)(struct program *p, struct exec_args *args, const char *path);

/* A program, and its dynamic linker if it names one. */
struct executable {
	struct program program, linker;
};

void program_close(struct program *p)
{
	if (p->inode)
		inode_put(p->inode);
	kfree(p->head);
	p->inode = NULL;
	p->head = NULL;
}

int program_open(struct program *p, const char *path)
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

static int parse(struct program *p)
{
	return elf_parse(p->head, p->n, p->inode->size, &p->image);
}

/* Opens the dynamic linker that the program names. Its own PT_INTERP is ignored, as on Linux. */
static int open_linker(struct executable *e)
{
	const struct elf_image *image = &e->program.image;
	char *path = kmalloc(image->interp_size, GFP_KERNEL);
	long n;
	int err;

	if (!path)
		return -ENOMEM;
	n = vfs_read_kernel(e->program.inode, image->interp_offset, path, image->interp_size);
	if (n != (long)image->interp_size || path[n - 1])
		err = n < 0 ? n : -ENOEXEC;
	else
		err = program_open(&e->linker, path);
	kfree(path);
	if (err)
		return err;
	err = parse(&e->linker);
	e->linker.image.interp_size = 0;
	return err ? -ELIBBAD : 0;
}

static int load(struct executable *e, struct mm_struct *mm)
{
	struct elf_image *image = &e->program.image;
	u32 entry = e->linker.image.entry;
	int err = elf_load(mm, e->program.inode, image);

	elf_describe(mm, image);
	if (err || !e->linker.inode)
		return err;
	err = elf_load(mm, e->linker.inode, &e->linker.image);
	image->base = e->linker.image.entry - entry;
	return err;
}

static bool has_writers(const struct program *p)
{
	return p->inode && p->inode->nr_writers;
}

static int build(struct executable *e, struct exec_args *args, const char *path,
		 struct mm_struct *mm, u32 *sp)
{
	int err = load(e, mm);

	/* opened since; no longer possible now */
	if (!err && (has_writers(&e->program) || has_writers(&e->linker)))
		err = -ETXTBSY;
	return err ? err : args_build_stack(args, mm, &e->program.image, path, sp);
}

static void set_comm(struct task_struct *t, const char *path)
{
	const char *slash = strrchr(path, '/');

	task_set_comm(t, slash ? slash + 1 : path);
}

/* Gives up the old program and becomes the new one: the point of no return. */
static void become(struct mm_struct *mm, u32 entry, u32 sp, const char *path)
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
	thread_init_exec(entry, sp);
}

static int exec_program(struct executable *e, struct exec_args *args, const char *path)
{
	struct program *p = &e->program;
	struct mm_struct *mm;
	u32 sp;
	int err = 0;

	if (exec_script)
		err = exec_script(p, args, path);
	if (!err)
		err = parse(p);
	if (!err && p->image.interp_size)
		err = open_linker(e);
	if (err)
		return err;
	mm = mm_create();
	if (!mm)
		return -ENOMEM;
	err = build(e, args, path, mm, &sp);
	if (err) {
		mm_destroy(mm);
		return err;
	}
	become(mm, e->linker.inode ? e->linker.image.entry : p->image.entry, sp, path);
	return 0;
}

int do_execve(const char *path, char *const *argv, char *const *envp, bool kernel_args)
{
	struct exec_args args;
	struct executable e = { 0 };
	int err = args_copy(&args, argv, envp, kernel_args);

	if (!err)
		err = program_open(&e.program, path);
	if (!err)
		err = exec_program(&e, &args, path);
	program_close(&e.program);
	program_close(&e.linker);
	args_free(&args);
	return err;
}
