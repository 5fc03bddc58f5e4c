/* The library of linked.c: 64 functions, each in a page of its own, which return their number times a constant. */
	.section .note.GNU-stack, "", @progbits
	.text
	.globl first
	.set number, 0
	.balign 4096
first:
	.rept 64
	.balign 4096
	mov $(number * 0x9E3779B1 & 0xffffffff), %eax
	ret
	.set number, number + 1
	.endr
