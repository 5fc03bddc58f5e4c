/* Shared by the files of proc/. */
#ifndef PROC_INTERNAL_H
#define PROC_INTERNAL_H

#include "arch/irq.h"
#include "elf.h"
#include "proc/signal.h"
#include "proc/task.h"
#include "types.h"

struct inode;

/* For the result of a function that returns an address or -errno. */
static inline bool is_error(long value)
{
	return (unsigned long)value >= -4095ul;
}

/* task.c */
extern struct task_struct *init_process; /* pid 1; NULL: not yet started */
/* Frees everything that t still owns. Not for current. t may be unpublished. */
void task_free(struct task_struct *t);
struct sighand *sighand_alloc(void); /* all default; NULL: out of memory */
void sighand_free(struct sighand *hand);

/* signal.c */
#define UNBLOCKABLE (SIG_BIT(SIGKILL) | SIG_BIT(SIGSTOP))
/* Sets or clears WORK_SIGNAL after current's masks have changed. */
static inline void signal_recalc(void)
{
	unsigned long flags = irq_save();

	if (signals_deliverable(&current->sig))
		current->work |= WORK_SIGNAL;
	else
		current->work &= ~WORK_SIGNAL;
	irq_restore(flags);
}

void signal_deliver(struct pt_regs *regs);
/* After execve: resets the old program's handlers; ignored signals stay ignored. */
void signal_exec(struct task_struct *t);

/* args.c: argument strings to be copied to a new stack */
struct exec_args {
	char *buf; /* the strings, one after another, each with its NUL */
	u32 used, size;
	u32 argc, envc;
};
/* Copies both vectors. Returns 0, -EFAULT, -E2BIG or -ENOMEM. Call args_free in every case. */
int args_copy(struct exec_args *args, char *const *argv, char *const *envp, bool kernel);
int args_grow(struct exec_args *args, u32 size); /* Returns 0, -E2BIG or -ENOMEM. */
void args_free(struct exec_args *args);
/* Builds the stack of a new program in mm and stores its start in *sp. Returns 0 or -errno. */
int args_build_stack(struct exec_args *args, struct mm_struct *mm, const struct elf_image *image,
		     const char *path, u32 *sp);

/* exec.c */

/* An executable file and its first bytes, which contain the headers. */
struct program {
	struct inode *inode;
	char *head; /* ELF_HEAD_SIZE bytes, the first n of them from the file */
	size_t n;
	struct elf_image image;
};

/* Opens a file that may be executed. Returns 0 or -errno; after both, call program_close. */
int program_open(struct program *p, const char *path);
void program_close(struct program *p);

/* Replaces a script, whose path this is, by its interpreter, and changes the arguments to those of the
 * interpreter. Leaves other files as they are. Returns 0 or -errno. NULL: scripts cannot run. */
extern int (*exec_script)(struct program *p, struct exec_args *args, const char *path);

/* load.c */
/* Maps the segments of a checked image into mm. A movable image gets its place first. Returns 0 or
 * -errno. */
int elf_load(struct mm_struct *mm, struct inode *inode, struct elf_image *image);
/* Records in mm where the program's code, data and heap begin and end. */
void elf_describe(struct mm_struct *mm, const struct elf_image *image);

#endif
