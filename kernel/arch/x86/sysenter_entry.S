/*
 * System calls by sysenter. The instruction loads cs, ss, eip and esp with the kernel's, turns
 * interrupts off, and saves nothing: the vDSO (kernel/arch/x86/vdso/vsyscall.S) has put the program's stack
 * pointer into ebp, and the kernel knows where to return to. From that and the registers, this
 * entry builds the struct pt_regs that int $0x80 would leave, so the return is the same iret. A
 * program may execute sysenter anywhere and with any registers: it still returns into the vDSO.
 *
 * The flags are the program's. NT would make the iret switch tasks, so the flags are cleared; the
 * saved ones keep them. With TF set, each instruction up to the popf raises a debug exception
 * inside the kernel. It is ignored: the entry in the exception table continues at the same instruction.
 *
 * ds is the program's until SAVE_REGS: it may be null or have a base, so the kernel's data are read through ss.
 *
 * At the first instruction esp points to the stack of the double fault, which a debug exception
 * there may use.
 * Source: Intel SDM vol. 2B, SYSENTER; vol. 3, 5.8.7.
 */
#include "entry.h"

	.set FLAGS_FIXED, 0x2 /* as in arch/x86/regs.h */
	.set FLAGS_IF, 0x200

	.macro TRACED at
	EX_TABLE \at, \at
	.endm

	.text
	.globl entry_sysenter
entry_sysenter:
	mov %ss:cpu_tss + TSS_SP0, %esp
1:	push $USER_DS
2:	push %ebp
3:	pushf
4:	push $FLAGS_FIXED
5:	popf
6:	orl $FLAGS_IF, (%esp)
	push $USER_CS
	push %ss:sysenter_return
	push %eax
	push $TRAP_SYSCALL
	SAVE_REGS
	call trap_sysenter
	jmp trap_return

	TRACED entry_sysenter
	TRACED 1b
	TRACED 2b
	TRACED 3b
	TRACED 4b
	TRACED 5b
	TRACED 6b
