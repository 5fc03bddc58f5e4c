/* The vDSO as the linker made it (kernel/arch/x86/vdso). */
	.section .rodata
	.globl vdso_image, vdso_image_end
	.balign 4
vdso_image:
	.incbin "build/kernel/arch/x86/vdso/vdso.so"
vdso_image_end:
