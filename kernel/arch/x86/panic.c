/*
 * Panic: prints a message, the registers if known, a backtrace and the task, and stops the machine
 * with an exit code for it. A panic during a panic prints only that it occurred.
 */
#include "arch/irq.h"
#include "arch/machine.h"
#include "arch/x86/cpu.h"
#include "internal.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "observe/events.h"
#include "sched/current.h"

static u32 panic_depth;

static void enter(void)
{
	irq_disable();
	watchdog_pause();
	if (panic_depth++) {
		if (panic_depth == 2)
			printk("panic inside a panic\n");
		machine_exit(EXIT_PANIC);
	}
}

static void __noreturn finish(const struct pt_regs *regs, enum machine_exit code)
{
	if (current_task)
		printk("task: %s (pid %d)\n", current_task->comm, current_task->pid);
	event_panic(NULL);
	if (regs) {
		print_regs(regs);
		backtrace_regs(regs);
	} else {
		backtrace();
	}
	machine_exit(code);
}

void __noreturn panic(const char *fmt, ...)
{
	char text[256];
	va_list args;

	enter();
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printk("\npanic: %s\n", text);
	finish(NULL, EXIT_PANIC);
}

void __noreturn die(struct pt_regs *regs, const char *what, u32 addr)
{
	enter();
	printk("\npanic: %s", what);
	if (addr || regs->trapno == TRAP_PAGE_FAULT)
		printk(" at address %08x", addr);
	printk("\n");
	finish(regs, EXIT_PANIC);
}

void __noreturn report_hang(struct pt_regs *regs)
{
	enter();
	printk("\nhang: no progress for %u s; interrupted here:\n", WATCHDOG_SECONDS);
	finish(regs, EXIT_HANG);
}
