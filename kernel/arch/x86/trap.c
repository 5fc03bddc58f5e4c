/*
 * Traps: handling exceptions, system calls and the watchdog's NMI, and the work before a return to
 * user mode.
 *
 * A fault of a program becomes a signal. A fault of the kernel is a bug, unless it happened at an
 * instruction of the exception table: a copy to or from user memory, or the load of a segment
 * register with a program's selector. Execution then continues at the fixup of that entry.
 */
#include "arch/irq.h"
#include "arch/machine.h"
#include "arch/mmu.h"
#include "arch/task.h"
#include "arch/uaccess.h"
#include "arch/vdso.h"
#include "arch/x86/cpu.h"
#include "errno.h"
#include "lib/string.h"
#include "mm/fault.h"
#include "proc/task.h"
#include "sched/acct.h"
#include "syscall/table.h"
#include "internal.h"
#include "trap.h"

static const struct {
	const char *name;
	int sig;
} exceptions[NR_EXCEPTIONS] = {
	[0] = { "divide error", SIGFPE },
	[1] = { "debug", SIGTRAP },
	[3] = { "breakpoint", SIGTRAP },
	[4] = { "overflow", SIGSEGV },
	[5] = { "bound range exceeded", SIGSEGV },
	[6] = { "invalid opcode", SIGILL },
	[7] = { "device not available", SIGFPE },
	[9] = { "coprocessor segment overrun", SIGFPE },
	[10] = { "invalid TSS", SIGSEGV },
	[11] = { "segment not present", SIGSEGV },
	[12] = { "stack segment fault", SIGSEGV },
	[13] = { "general protection fault", SIGSEGV },
	[16] = { "x87 floating-point error", SIGFPE },
	[17] = { "alignment check", SIGBUS },
	[18] = { "machine check", SIGBUS },
	[19] = { "SIMD floating-point error", SIGFPE },
};

/* A reading of the clock that another task or a signal handler interrupts begins again (clock_page.c). */
static void restart_reading(struct pt_regs *regs)
{
	if (regs->ip - clock_reader <= READ_CYCLES_SBB)
		regs->ip = clock_reader;
}

static inline void account_enter_kernel(void)
{
	acct_move(&current->acct, ACCT_USER, ACCT_KERNEL);
	if (unlikely(current->fresh_va))
		swallow_faulting_use();
}

static inline void account_exit_kernel(void)
{
	acct_move(&current->acct, ACCT_KERNEL, ACCT_USER);
}

static inline void return_to_user(struct pt_regs *regs)
{
	irq_disable();
	while (unlikely(current->work)) {
		restart_reading(regs);
		exit_to_user(regs);
		irq_disable();
	}
	account_exit_kernel();
}

void trap_return_to_user(struct pt_regs *regs)
{
	return_to_user(regs);
}

static inline void run_syscall(struct pt_regs *regs)
{
	u32 nr = regs->ax;
	long result = -ENOSYS;

	if (likely(nr < NR_SYSCALLS)) {
		syscall_count[nr]++;
		result = syscalls[nr].run(regs->bx, regs->cx, regs->dx, regs->si, regs->di,
					  regs->bp);
	}
	regs->ax = result;
}

void trap_syscall(struct pt_regs *regs)
{
	account_enter_kernel();
	irq_enable();
	run_syscall(regs);
	return_to_user(regs);
}

/* The program's ebp, saved as its sp, points to the sixth argument. */
void trap_sysenter(struct pt_regs *regs)
{
	account_enter_kernel();
	irq_enable();
	if (get_user_u32(&regs->bp, (void *)regs->sp))
		regs->ax = -EFAULT;
	else
		run_syscall(regs);
	return_to_user(regs);
}

/* The error code has the bits present, write, user, from bit 0 on. */
static u32 fault_flags(u32 error_code)
{
	return (error_code >> 1 & (FAULT_WRITE | FAULT_USER)) | (error_code & 1) * FAULT_PRESENT;
}

/*
 * No program may enter virtual-8086 mode, but QEMU lets iret set the flag for it. The processor has
 * then pushed the data segments, too, so the frame begins lower by their size: it is moved up.
 */
static void __noreturn leave_vm86(struct pt_regs *regs)
{
	struct pt_regs *flat = task_regs(current);

	memmove(flat, regs, sizeof(*flat));
	flat->flags = (flat->flags & FLAGS_USER) | FLAGS_FIXED | FLAGS_IF;
	flat->cs = USER_CS;
	flat->ss = flat->ds = flat->es = USER_DS;
	flat->fs = flat->gs = 0;
	irq_enable();
	force_signal(SIGSEGV, flat->ip);
	enter_user(flat);
}

/*
 * The code segment decides whose fault it is, not the error code: QEMU before 9.1 makes a program's
 * accesses to its stack (lret, iret, lcall) with the kernel's rights.
 */
static void user_page_fault(struct pt_regs *regs, u32 addr, u32 fault)
{
	account_enter_kernel();
	if (unlikely(regs->flags & FLAGS_VM))
		leave_vm86(regs);
	irq_enable();
	do_page_fault(regs, addr, fault | FAULT_USER);
	return_to_user(regs);
}

void trap_interrupt(struct pt_regs *regs)
{
	bool user = regs_from_user(regs);

	if (user)
		account_enter_kernel();
	irq_handle(regs);
	if (unlikely(regs->flags & FLAGS_VM))
		leave_vm86(regs);
	if (user)
		return_to_user(regs);
}

void trap_page_fault(struct pt_regs *regs)
{
	u32 addr = read_cr2(), fault = fault_flags(regs->error_code);

	if (regs_from_user(regs)) {
		user_page_fault(regs, addr, fault);
		return;
	}
	if (kernel_stack_guard(addr))
		die(regs, "kernel stack overflow", addr);
	if (regs->flags & FLAGS_IF)
		irq_enable();
	else if (fixup_exception(regs)) /* it must not sleep */
		return;
	do_page_fault(regs, addr, fault);
}

/* First FPU use since another task owned the FPU. The kernel itself never uses the FPU. */
static bool handle_fpu_trap(struct pt_regs *regs)
{
	if (regs->trapno != TRAP_DEVICE_NOT_AVAILABLE)
		return false;
	fpu_device_not_available();
	return true;
}

static const char *exception_name(u32 trapno)
{
	const char *name = trapno < NR_EXCEPTIONS ? exceptions[trapno].name : NULL;

	return name ? name : "unknown exception";
}

void trap_exception(struct pt_regs *regs)
{
	int sig = exceptions[regs->trapno].sig;

	if (!regs_from_user(regs)) {
		if (!fixup_exception(regs))
			die(regs, exception_name(regs->trapno), 0);
		return;
	}
	account_enter_kernel();
	if (unlikely(regs->flags & FLAGS_VM))
		leave_vm86(regs);
	irq_enable();
	if (!handle_fpu_trap(regs)) {
		current->thread.fault_addr = regs->ip;
		force_signal(sig ? sig : SIGSEGV, regs->ip);
	}
	return_to_user(regs);
}

/* Only the watchdog sends an NMI (or a person at QEMU's monitor, for the same purpose). A program
 * in virtual-8086 mode may have disabled interrupts. */
void trap_nmi(struct pt_regs *regs)
{
	if (regs->flags & FLAGS_VM) {
		account_enter_kernel();
		leave_vm86(regs);
	}
	if (!watchdog_waits_again())
		report_hang(regs);
}

void __noreturn trap_double_fault(void)
{
	u32 addr = read_cr2();
	struct pt_regs regs;

	tss_interrupted(&regs);
	if (kernel_stack_guard(addr) || kernel_stack_guard(regs.sp))
		die(&regs, "kernel stack overflow", addr);
	die(&regs, "double fault", addr);
}
