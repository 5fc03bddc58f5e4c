/*
 * What the kernel and the vDSO (kernel/arch/x86/vdso) must agree on: the page of data that the kernel writes
 * and programs read, and the layout of the system call by sysenter.
 */
#ifndef ARCH_VDSO_H
#define ARCH_VDSO_H

/* Offsets from __kernel_vsyscall: of the instructions that a processor without sysenter must not
 * execute; of the place to which a system call by sysenter returns; and of read_cycles. */
#define VSYSCALL_ENTER 3
#define VSYSCALL_ENTER_SIZE 4
#define VSYSCALL_RETURN 9
#define READ_CYCLES 13
#define READ_CYCLES_SUB 2 /* from there: its second instruction, */
#define READ_CYCLES_SBB 4 /* and its third */

#ifndef __ASSEMBLER__
#include "types.h"

/* How to compute the time from the TSC. Only `zero` changes after boot. */
struct clock_page {
	u64 zero;        /* cycles: the clock would be 0 here if it had never stopped */
	u64 realtime_ns; /* realtime - clock */
	u32 ns_scale;    /* ns per cycle << CLOCK_SCALE_SHIFT; 0: exactly 1 */
};

STATIC_ASSERT(offsetof(struct clock_page, zero) == 0); /* vsyscall.S reads it */

#define CLOCK_SCALE_SHIFT 24

static inline u64 clock_scale(u64 cycles, u32 ns_scale)
{
	u32 low = cycles, high = cycles >> 32;

	return ((u64)low * ns_scale >> CLOCK_SCALE_SHIFT) +
	       ((u64)high * ns_scale << (32 - CLOCK_SCALE_SHIFT));
}

/* Keeps a frame up to date that begins with a struct clock_page. Programs subtract its `zero` from
 * the TSC in read_cycles, at this user address. Call once. */
void clock_page_init(u32 pfn, u32 read_cycles);

/* time.c: stores what a program needs, and calls `moved` now and each time that `zero` changes,
 * with interrupts off. */
void clock_share(u64 *realtime_ns, u32 *ns_scale, void (*moved)(u64 zero));

/* Lets programs enter the kernel by sysenter. Such a call returns to the address return_to. Returns
 * false if the processor lacks the instruction. */
bool sysenter_init(u32 return_to);
#endif

#endif
