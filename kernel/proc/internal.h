/* What the files of proc/ share among themselves. */
#ifndef PROC_INTERNAL_H
#define PROC_INTERNAL_H

#include "elf.h"
#include "proc/task.h"
#include "types.h"

struct inode;

#define INIT_PID 1
#define PID_MAX 32767

/* Of a function that returns an address or -errno. */
static inline bool is_error(long value)
{
	return (unsigned long)value >= -4095ul;
}

/* task.c */
extern struct task_struct *init_process; /* pid 1; NULL: not yet started */
/* A task with a kernel stack, empty otherwise; NULL: no memory. */
struct task_struct *task_alloc(const char *comm);
/* Gives it a pid and shows it to the others. pid 0: the next free one. */
void task_publish(struct task_struct *t, int pid);
/* Frees everything that a task still has. Not current; published or not. */
void task_free(struct task_struct *t);
struct sighand *sighand_alloc(void); /* all default; NULL: no memory */
void sighand_free(struct sighand *hand);

/* signal.c */
void signal_deliver(struct pt_regs *regs);
/* After execve: handlers of the old program are gone, what was ignored stays so. */
void signal_exec(struct task_struct *t);

/* args.c: argument strings on their way to a new stack */
struct exec_args {
	char *buf; /* the strings, one after the other, each with its NUL */
	u32 used, size;
	u32 argc, envc;
};
/* Copies both vectors. 0, -EFAULT, -E2BIG, -ENOMEM. args_free in any case. */
int args_copy(struct exec_args *args, char *const *argv, char *const *envp, bool kernel);
/* Puts a string before all others, as a new argument 0 (drop: in place of the old one). */
int args_push_front(struct exec_args *args, const char *s, bool drop);
void args_free(struct exec_args *args);
/* Builds the stack of a new program in mm; *sp: where it begins. 0 or -errno. */
int args_build_stack(struct exec_args *args, struct mm_struct *mm, const struct elf_image *image,
		     const char *path, u32 *sp);

/* load.c */
/* Maps the segments of a checked image into mm. 0 or -errno. */
int elf_load(struct mm_struct *mm, struct inode *inode, const struct elf_image *image);

#endif
