/*
 * The CPU's part of a task: its saved kernel stack pointer, FPU/SSE state and thread-local storage.
 * Also task switching and entering user mode.
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
	void *fpu;         /* 512-byte FXSAVE area, owned; NULL: FPU never used */
	u64 tls[NR_TLS];   /* descriptors, loaded at a task switch */
	u32 fault_addr;    /* address of the last fault: si_addr of its signal */
	int fault_sig;     /* that signal, until delivered; other signals have no address */
};

/* Kernel stacks live in the vmalloc area, each with an unmapped guard page below it. Returns the
 * lowest address of KERNEL_STACK_SIZE bytes, or NULL if out of memory. May sleep. */
void *kernel_stack_alloc(void);
void kernel_stack_free(void *stack);
/* Frees the frames of the stacks kept for reuse. Returns the number of frames. */
u32 kernel_stack_reap(void);

/* The registers with which the task entered the kernel from user mode. */
struct pt_regs *task_regs(struct task_struct *t);

/* Prepares a new kernel thread that starts in fn(arg). fn must not return. */
void thread_init_kernel(struct task_struct *t, void (*fn)(void *), void *arg);
/* Prepares a forked child: it returns to user mode with a copy of the parent's registers, result 0
 * and, if sp is not 0, stack pointer sp. Copies FPU state and TLS. Returns 0, -ENOMEM, or -EPERM if
 * the parent is in virtual-8086 mode. */
int thread_init_fork(struct task_struct *child, struct task_struct *parent, u32 sp);
/* Resets registers, FPU and TLS of current for a new program image. */
void thread_init_exec(u32 entry, u32 sp);
u32 cpu_features(void); /* CPUID's feature bits, as programs expect them in AT_HWCAP */
/* Frees what thread_init_* allocated (FPU state). */
void thread_free(struct task_struct *t);
/* Enters user mode for the first time, in a kernel thread that has become a program. */
void __noreturn thread_enter_user(void);

/* Switches from prev to next: stack, FPU, TLS, TSS. Returns in next's context. Caller has
 * interrupts off and has already switched the address space. */
void thread_switch(struct task_struct *prev, struct task_struct *next);

/* The program's registers. */
u32 regs_ip(const struct pt_regs *regs);
u32 regs_sp(const struct pt_regs *regs);
/* A hash of the registers: almost certainly another number once the program has made progress. */
u32 regs_digest(const struct pt_regs *regs);

/* Signal frames (Linux i386 layout): pushes a frame that runs handler(sig) and returns through the
 * restorer or a trampoline. Returns 0 or -EFAULT. */
struct k_sigaction;
int thread_push_signal(struct pt_regs *regs, int sig, const struct k_sigaction *sa, u64 oldmask);
/* sigreturn / rt_sigreturn: restores the registers and stores the mask in *mask. Returns 0 or
 * -EFAULT. */
int thread_pop_signal(struct pt_regs *regs, bool rt, u64 *mask);
/* regs_restart_syscall makes an interrupted system call start again (-ERESTARTSYS) on return to
 * user mode. */
bool regs_page_fault(const struct pt_regs *regs);
bool regs_in_syscall(const struct pt_regs *regs);
void regs_restart_syscall(struct pt_regs *regs);
long regs_result(const struct pt_regs *regs);
void regs_set_result(struct pt_regs *regs, long value);

/* The system call set_thread_area. Returns 0 or -errno. */
int thread_set_area(void *user_desc);

/* Waits for an interrupt. Called with interrupts off; returns with interrupts on. */
void cpu_idle_wait(void);

#endif
