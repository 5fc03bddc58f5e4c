/* The machine as a whole: memory map, power, console of last resort, watchdog, backtraces. */
#ifndef ARCH_MACHINE_H
#define ARCH_MACHINE_H

#include "types.h"

struct pt_regs;

struct mem_range {
	u64 start, end; /* bytes */
};

/* What the boot loader passed. Filled in by arch/x86/boot_info.c before kernel_main runs. */
struct boot_info {
	char cmdline[1024];
	struct mem_range ram[16];       /* usable memory, sorted, not overlapping */
	int nr_ram;
	struct mem_range initramfs;     /* start == end: none */
};
extern struct boot_info boot_info;

/* Exit codes that end QEMU through isa-debug-exit; see docs/reference/run-status.md. */
enum machine_exit {
	EXIT_OK = 0x10,      /* powered off, status 0 */
	EXIT_FAILED = 0x11,  /* powered off, another status */
	EXIT_PANIC = 0x12,
	EXIT_HANG = 0x13,
	EXIT_REFUSED = 0x14, /* the command line names something that does not exist */
	EXIT_CUT = 0x15,     /* the power was cut, as requested by cut= */
};

/* Ends the machine at once: flushes nothing, prints nothing. */
void __noreturn machine_exit(enum machine_exit code);
void __noreturn machine_reboot(void);

/* A fault of the kernel: prints it with the registers and a backtrace, and ends the machine. */
void __noreturn die(struct pt_regs *regs, const char *what, u32 addr);

/* Prints the caller's stack as function+offset lines. */
void backtrace(void);
void backtrace_regs(const struct pt_regs *regs);
/* Stores the return addresses of the callers, innermost first, then 0. */
void backtrace_callers(u32 *ips, u32 max);
/* Formats an address as "name+0x12", or as "0xADDR" if it is not in kernel text. Returns buf. */
char *ksym_name(u32 addr, char *buf, size_t size);

/* The kernel's functions, sorted by address: their number, the index of the function that contains
 * addr (-1: none), the name of one. */
u32 ksym_count(void);
int ksym_index(u32 addr);
const char *ksym_at(u32 i);

/* The watchdog sends an NMI if it is not fed for 2 s of machine time. The NMI handler then reports
 * a hang. watchdog_pause is for idling without a timer. */
void watchdog_init(void);
void watchdog_feed(void);
void watchdog_feed_still(void); /* while the clock stands still */
void watchdog_pause(void);

void arch_init(void);  /* GDT, IDT, TSS, PIC, FPU: the first step of kernel_main */

#endif
