/*
 * Selectors, at the same indices as in Linux i386: programs know the TLS entries 6 to 8, and
 * debuggers know 0x73 and 0x7b. Assembler files include this header, too.
 */
#ifndef ARCH_X86_SEGMENT_H
#define ARCH_X86_SEGMENT_H

#define GDT_TLS_FIRST 6
#define GDT_KERNEL_CS 12
#define GDT_KERNEL_DS 13
#define GDT_USER_CS 14
#define GDT_USER_DS 15
#define GDT_TSS 16
#define GDT_DOUBLE_FAULT_TSS 17
#define GDT_ENTRIES 18

#define KERNEL_CS (GDT_KERNEL_CS * 8)
#define KERNEL_DS (GDT_KERNEL_DS * 8)
#define USER_CS (GDT_USER_CS * 8 + 3)
#define USER_DS (GDT_USER_DS * 8 + 3)

#define TRAP_NMI 2
#define TRAP_DEVICE_NOT_AVAILABLE 7
#define TRAP_DOUBLE_FAULT 8
#define TRAP_GENERAL_PROTECTION 13
#define TRAP_PAGE_FAULT 14
#define NR_EXCEPTIONS 32
#define TRAP_IRQ0 32
#define NR_TRAPS 48
#define TRAP_SYSCALL 0x80

#define TSS_SP0 4 /* offset in the task-state segment: where a kernel stack begins */

#endif
