/* Macros of the assembler files with entries to the kernel; entry.S has the theory. */
#ifndef ARCH_X86_ENTRY_H
#define ARCH_X86_ENTRY_H

/* clang-format off */
#include "arch/x86/segment.h"

	.macro SAVE_REGS
	pusha
	push %ds
	push %es
	push %fs
	push %gs
	mov $KERNEL_DS, %eax
	mov %eax, %ds
	mov %eax, %es
	cld
	mov %esp, %eax
	.endm

	.macro EX_TABLE from, to
	.pushsection __ex_table, "a"
	.long \from, \from, \to
	.popsection
	.endm

#endif
