/*
 * The registers saved at every entry to the kernel, in the order of Linux's struct sigcontext. So
 * PUSHA saves most of them, and a signal frame is a copy of this structure.
 *
 * sp and ss exist only if the trap came from user mode. fs and gs are saved but not restored on
 * return: the kernel never uses them, so the CPU still holds the user's values. Code that changes
 * the saved values must also load the CPU's registers (regs_load_fs_gs). Only the low half of a
 * segment register's word is defined.
 */
#ifndef ARCH_X86_REGS_H
#define ARCH_X86_REGS_H

#include "types.h"

struct pt_regs {
	u32 gs, fs, es, ds;
	u32 di, si, bp, pusha_sp, bx, dx, cx, ax;
	u32 trapno;
	union {
		u32 error_code; /* pushed by a trap */
		u32 orig_ax;    /* in a system call: its number */
	};
	u32 ip, cs, flags, sp, ss;
};

STATIC_ASSERT(sizeof(struct pt_regs) == 76);

#define FLAGS_CF 0x1u
#define FLAGS_FIXED 0x2u /* always one */
#define FLAGS_TF 0x100u
#define FLAGS_IF 0x200u
#define FLAGS_DF 0x400u
#define FLAGS_RF 0x10000u
#define FLAGS_VM 0x20000u /* virtual-8086 mode */
#define FLAGS_AC 0x40000u
/* Flags a program may set: the arithmetic flags, TF, DF, OF, RF, AC. */
#define FLAGS_USER 0x50dd5u

/* In virtual-8086 mode cs is a segment number, not a selector. */
static inline bool regs_from_user(const struct pt_regs *regs)
{
	return regs->cs & 3 || regs->flags & FLAGS_VM;
}

#endif
