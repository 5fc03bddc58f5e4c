/*
 * All entries to the kernel and all exits.
 *
 * An entry saves the registers as a struct pt_regs (arch/x86/regs.h), loads the kernel's data
 * segments, because a program may have loaded anything into ds and es, and calls its C handler with
 * a pointer to them. The handler does everything else, including the work before a return to user
 * mode, so the exit path only restores registers.
 *
 * A program can make three of the instructions on the exit path fault, each by removing, with
 * set_thread_area, a descriptor that a segment register still refers to: the two pops, which then
 * load the null selector, and iret with a bad ss, after which the program gets SIGSEGV.
 */
#include "entry.h"

	.text
	.globl entry_syscall
entry_syscall:
	push %eax
	push $TRAP_SYSCALL
	SAVE_REGS
	call trap_syscall

	.globl trap_return
trap_return:
	add $8, %esp
1:	pop %es
2:	pop %ds
	popa
	add $8, %esp
3:	iret

pop_fault_es:
	movl $0, (%esp)
	jmp 1b
pop_fault_ds:
	movl $0, (%esp)
	jmp 2b
iret_fault:
	movl $USER_DS, 16(%esp)
	push $0
	push $TRAP_GENERAL_PROTECTION
	jmp trap_common

	EX_TABLE 1b, pop_fault_es
	EX_TABLE 2b, pop_fault_ds
	EX_TABLE 3b, iret_fault

trap_common:
	SAVE_REGS
	call trap_exception
	jmp trap_return

irq_common:
	SAVE_REGS
	call trap_interrupt
	jmp trap_return

trap_14:
	push $TRAP_PAGE_FAULT
	SAVE_REGS
	call trap_page_fault
	jmp trap_return

trap_2:
	push $0
	push $TRAP_NMI
	SAVE_REGS
	call trap_nmi
	jmp trap_return

	.macro TRAP vector, to, has_error_code=0
trap_\vector:
	.if !\has_error_code
	push $0
	.endif
	push $\vector
	jmp \to
	.endm

	.irp vector, 0, 1, 3, 4, 5, 6, 7, 9, 15, 16, 18, 19, 20, 22, 23, 24, 25, 26, 27, 28, 31
	TRAP \vector, trap_common
	.endr
	.irp vector, 8, 10, 11, 12, 13, 17, 21, 29, 30
	TRAP \vector, trap_common, 1
	.endr
	.irp vector, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47
	TRAP \vector, irq_common
	.endr

	.section .rodata
	.globl trap_stubs
trap_stubs:
	.irp vector, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.long trap_\vector
	.endr
	.irp vector, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	.long trap_\vector
	.endr
	.irp vector, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47
	.long trap_\vector
	.endr

	.text
/* Entered by a task switch, on its own stack, with an error code that is always 0. */
	.globl double_fault_entry
double_fault_entry:
	xor %ebp, %ebp
	call trap_double_fault
	ud2

/* switch_stack(eax: where to save esp, edx: new esp): returns on the other stack. */
	.globl switch_stack
switch_stack:
	push %ebp
	push %ebx
	push %esi
	push %edi
	mov %esp, (%eax)
	mov %edx, %esp
	pop %edi
	pop %esi
	pop %ebx
	pop %ebp
	ret

/* First instructions of new tasks, on a stack prepared by thread_init_*. */
	.globl kernel_thread_start
kernel_thread_start:
	sti
	mov %esi, %eax
	call *%ebx
	ud2

	.globl ret_from_fork
ret_from_fork:
	mov %esp, %eax
/* enter_user(eax: pt_regs at the top of the kernel stack) */
	.globl enter_user
enter_user:
	mov %eax, %esp
	mov %eax, %ebx
	mov (%ebx), %edx
	mov 4(%ebx), %eax
	call regs_load_fs_gs
	mov %ebx, %eax
	call trap_return_to_user
	jmp trap_return

/* regs_load_fs_gs(eax: fs, edx: gs) */
	.globl regs_load_fs_gs
regs_load_fs_gs:
4:	mov %eax, %fs
5:	mov %edx, %gs
	ret
load_fault_fs:
	xor %eax, %eax
	jmp 4b
load_fault_gs:
	xor %edx, %edx
	jmp 5b

	EX_TABLE 4b, load_fault_fs
	EX_TABLE 5b, load_fault_gs
