/*
 * What the CPU needs to know of a task: its saved kernel stack pointer, FPU/SSE state, and
 * thread-local storage; switching; entering user mode.
 */
#ifndef ARCH_TASK_H
#define ARCH_TASK_H

#include "types.h"

struct task_struct;
struct pt_regs; /* user registers on the kernel stack; arch/x86/regs.h */

#define KERNEL_STACK_SIZE 8192u
#define NR_TLS 3

struct thread_struct {
	u32 sp;            /* saved kernel stack pointer while not running */
	void *fpu;         /* 512-byte FXSAVE area; NULL: never used it. Owned here */
	u64 tls[NR_TLS];   /* descriptors loaded at a switch */
	u32 fault_addr;    /* of the last fault: si_addr of its signal */
	int fault_sig;     /* that signal, until it is delivered; other signals have no address */
};

/* Kernel stacks live in the vmalloc area with an unmapped guard page below each. Returns the
 * lowest address of KERNEL_STACK_SIZE bytes, or NULL: out of memory. May sleep. */
void *kernel_stack_alloc(void);
void kernel_stack_free(void *stack);
/* Gives back the frames of the stacks kept for reuse; returns how many. */
u32 kernel_stack_reap(void);

/* The registers with which the task entered the kernel from user mode. */
struct pt_regs *task_regs(struct task_struct *t);

/* A new kernel thread starts in fn(arg) and must not return. */
void thread_init_kernel(struct task_struct *t, void (*fn)(void *), void *arg);
/* A forked child returns to user mode with a copy of the parent's registers, result 0, and, if
 * sp is not 0, this stack pointer. Copies FPU state and TLS. 0 or -ENOMEM. */
int thread_init_fork(struct task_struct *child, struct task_struct *parent, u32 sp);
/* Resets registers, FPU and TLS of current for a new program image. */
void thread_init_exec(u32 entry, u32 sp);
/* Frees what thread_init_* took (FPU state). */
void thread_free(struct task_struct *t);
/* Leaves the kernel for the first time in a kernel thread that has become a program. */
void __noreturn thread_enter_user(void);

/* Runs next instead of prev: stack, FPU, TLS, TSS; returns in next's context. Called with
 * interrupts off; the caller has already switched the address space. */
void thread_switch(struct task_struct *prev, struct task_struct *next);

/* Registers as a program sees them. */
u32 regs_ip(const struct pt_regs *regs);
u32 regs_sp(const struct pt_regs *regs);
/* A number that is another one, all but surely, as soon as the program has got on. */
u32 regs_digest(const struct pt_regs *regs);

/* Signal frames (Linux i386 layout): pushes a frame that runs handler(sig) and returns through
 * the restorer or a trampoline; 0 or -EFAULT. */
struct k_sigaction;
int thread_push_signal(struct pt_regs *regs, int sig, const struct k_sigaction *sa, u64 oldmask);
/* sigreturn / rt_sigreturn: restores registers; the mask goes to *mask. 0 or -EFAULT. */
int thread_pop_signal(struct pt_regs *regs, bool rt, u64 *mask);
/* Makes an interrupted system call start again (-ERESTARTSYS) when the frame is left. */
bool regs_page_fault(const struct pt_regs *regs);
bool regs_in_syscall(const struct pt_regs *regs);
void regs_restart_syscall(struct pt_regs *regs);
long regs_result(const struct pt_regs *regs);
void regs_set_result(struct pt_regs *regs, long value);

/* What the system call set_thread_area does. 0 or -errno. */
int thread_set_area(void *user_desc);

/* Waits for an interrupt; called with interrupts off, returns with them on. */
void cpu_idle_wait(void);

#endif
