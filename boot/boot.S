/*
 * From the boot loader to C.
 *
 * A Multiboot 1 loader (QEMU's -kernel, GRUB) enters _start in protected mode, paging off, with eax
 * = a magic number and ebx = the address of its information. This code runs at the physical address
 * that it is linked at. It fills the page directory with 4 MiB pages: all 896 MiB of low memory at
 * KERNEL_BASE, and the first 4 MiB also at their physical address, for the few instructions between
 * enabling paging and jumping up. mmu_init removes the excess mappings. The image's .bss is cleared
 * first: some loaders do not do that, or not at a second boot.
 *
 * Sources: Multiboot Specification 0.6.96; Intel SDM vol. 3, 4.3 (32-bit paging).
 */

#define MULTIBOOT_MAGIC 0x1BADB002
#define MULTIBOOT_FLAGS 3 /* align modules on page boundaries; provide a memory map */

#define KERNEL_BASE 0xC0000000
#define DIRECT_MAP_ENTRIES 224
#define PDE_FLAGS 0x183 /* present, writable, 4 MiB, global */

#define CR4_PSE_PGE 0x90
#define CR0_PG_WP 0x80010000

/* CPU features that the kernel requires: PSE, TSC, PGE, CMOV, FXSR, SSE. */
#define CPU_NEEDED 0x0300A018

#define COM1 0x3f8
#define DEBUG_EXIT 0xf4   /* see arch/x86/machine.c */
#define EXIT_REFUSED 0x14 /* see arch/machine.h */

	.section .multiboot, "a"
	.balign 4
	.long MULTIBOOT_MAGIC, MULTIBOOT_FLAGS, -(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)

	.section .boot.text, "ax"
	.globl _start
_start:
	cli
	cld
	mov %eax, %esi
	mov %ebx, %ebp

	xor %eax, %eax
	mov $__bss_start - KERNEL_BASE, %edi
	mov $__bss_end - KERNEL_BASE, %ecx
	sub %edi, %ecx
	shr $2, %ecx
	rep stosl

	mov $1, %eax
	cpuid
	and $CPU_NEEDED, %edx
	cmp $CPU_NEEDED, %edx
	jne cpu_too_old

	mov $kernel_pgdir - KERNEL_BASE, %edx
	mov $PDE_FLAGS, %eax
	mov %eax, (%edx)
	xor %ecx, %ecx
1:	mov %eax, KERNEL_BASE >> 20(%edx, %ecx, 4)
	add $0x400000, %eax
	inc %ecx
	cmp $DIRECT_MAP_ENTRIES, %ecx
	jne 1b

	mov %cr4, %eax
	or $CR4_PSE_PGE, %eax
	mov %eax, %cr4
	mov %edx, %cr3
	mov %cr0, %eax
	or $CR0_PG_WP, %eax
	mov %eax, %cr0
	mov $start_high, %eax
	jmp *%eax

cpu_too_old:
	mov $cpu_message, %esi
	mov $COM1, %edx
	mov $cpu_message_end - cpu_message, %ecx
	rep outsb
	mov $EXIT_REFUSED, %eax
	out %eax, $DEBUG_EXIT
2:	hlt
	jmp 2b

	.section .boot.rodata, "a"
cpu_message:
	.ascii "Tidemark needs a CPU with PSE, PGE, TSC, CMOV, FXSR and SSE.\r\n"
cpu_message_end:

	.text
start_high:
	mov $boot_stack + 8192, %esp
	mov %esi, %eax
	mov %ebp, %edx
	xor %ebp, %ebp
	call arch_start
	call kernel_main
	ud2

	.bss
	.balign 4096
	.globl kernel_pgdir, boot_stack
kernel_pgdir:
	.skip 4096
boot_stack:
	.skip 8192
