/*
 * __kernel_vsyscall: a system call by the fastest instruction that the processor has. Number and
 * arguments are in the registers as for int $0x80. Its address is also in AT_SYSINFO.
 *
 * sysenter saves nothing. So ecx, edx and ebp are saved here, ebp tells the kernel where the stack
 * is, and the word that it points to is the sixth argument. The kernel returns to the instruction
 * behind int $0x80, whatever the address of sysenter was. A call that a signal has interrupted is
 * made again from the int $0x80, and then ebp is the sixth argument itself. A processor without
 * sysenter arrives there, too: for it the kernel replaces the two instructions by nops.
 */
#include "arch/vdso.h"

	.text
	.globl __kernel_vsyscall
	.type __kernel_vsyscall, @function
__kernel_vsyscall:
	push %ecx
	push %edx
	push %ebp
enter:
	mov %esp, %ebp
	sysenter
again:
	int $0x80
return_here:
	pop %ebp
	pop %edx
	pop %ecx
	ret
	.size __kernel_vsyscall, . - __kernel_vsyscall

	.if enter - __kernel_vsyscall - VSYSCALL_ENTER
	.error "VSYSCALL_ENTER is wrong"
	.endif
	.if again - enter - VSYSCALL_ENTER_SIZE
	.error "VSYSCALL_ENTER_SIZE is wrong"
	.endif
	.if return_here - __kernel_vsyscall - VSYSCALL_RETURN
	.error "VSYSCALL_RETURN is wrong"
	.endif

/*
 * read_cycles(ecx: the page of data): the cycles of the clock. If the kernel stops the clock between
 * two of these instructions (kernel/arch/x86/time.c), it corrects edx:eax. A sequence count would
 * also tell that the page has changed, but to read it again would take time, and so a stopped clock
 * would be seen.
 */
	.globl read_cycles
	.hidden read_cycles
read_cycles:
	rdtsc
subtract_low:
	sub (%ecx), %eax
subtract_high:
	sbb 4(%ecx), %edx
	ret

	.if read_cycles - __kernel_vsyscall - READ_CYCLES
	.error "READ_CYCLES is wrong"
	.endif
	.if subtract_low - read_cycles - READ_CYCLES_SUB
	.error "READ_CYCLES_SUB is wrong"
	.endif
	.if subtract_high - read_cycles - READ_CYCLES_SBB
	.error "READ_CYCLES_SBB is wrong"
	.endif

	.section .note.GNU-stack, "", @progbits
