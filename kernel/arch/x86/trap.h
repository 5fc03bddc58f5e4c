/* The functions of trap.c, which entry.S and sysenter_entry.S call. */
#ifndef ARCH_X86_TRAP_H
#define ARCH_X86_TRAP_H

#include "arch/x86/regs.h"
#include "types.h"

void trap_exception(struct pt_regs *regs);
void trap_page_fault(struct pt_regs *regs);
void trap_syscall(struct pt_regs *regs);
void trap_sysenter(struct pt_regs *regs);
void trap_interrupt(struct pt_regs *regs);
void trap_nmi(struct pt_regs *regs);
void trap_return_to_user(struct pt_regs *regs);
void __noreturn trap_double_fault(void);

#endif
