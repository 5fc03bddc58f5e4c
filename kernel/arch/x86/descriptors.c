/*
 * The CPU's tables: GDT, IDT, and the two task-state segments.
 *
 * Segments are flat; the page tables provide the protection. The first TSS only contains the start
 * of the kernel stack. The second belongs to the double fault, which must not use the stack that
 * caused it: a task gate switches to it and saves the interrupted registers in the first.
 * Source: Intel SDM vol. 3, chapters 3.4, 6 and 7.
 */
#include "arch/mmu.h"
#include "arch/x86/cpu.h"
#include "internal.h"
#include "lib/string.h"

struct tss {
	u32 link, sp0, ss0, sp1, ss1, sp2, ss2, cr3;
	u32 ip, flags, ax, cx, dx, bx, sp, bp, si, di;
	u32 es, cs, ss, ds, fs, gs, ldt;
	u16 trap, io_bitmap;
};

STATIC_ASSERT(sizeof(struct tss) == 104 && offsetof(struct tss, sp0) == TSS_SP0);

struct table_register {
	u16 limit;
	const void *base;
} __attribute__((packed));

#define FLAT 0x00CF00000000FFFFull /* base 0, limit 4 GiB, 32 bit */
#define SEGMENT(access) (FLAT | (u64)(access) << 40)
#define GATE_INTERRUPT 0x8E00u
#define GATE_INTERRUPT_USER 0xEE00u
#define GATE_TASK 0x8500u

static u64 gdt[GDT_ENTRIES] __attribute__((aligned(64))) = {
	[GDT_KERNEL_CS] = SEGMENT(0x9B),
	[GDT_KERNEL_DS] = SEGMENT(0x93),
	[GDT_USER_CS] = SEGMENT(0xFB),
	[GDT_USER_DS] = SEGMENT(0xF3),
};
static u64 idt[256] __attribute__((aligned(64)));
struct tss cpu_tss;
u8 double_fault_stack[DOUBLE_FAULT_STACK_SIZE] __attribute__((aligned(16)));
static struct tss double_fault_tss;

static u64 tss_descriptor(const struct tss *t)
{
	u64 base = (u32)t;

	return (sizeof(*t) - 1) | (base & 0xFFFFFF) << 16 | 0x89ull << 40 | base >> 24 << 56;
}

static u64 gate(u32 address, u32 selector, u32 type)
{
	return (address & 0xFFFF) | selector << 16 | (u64)((address & 0xFFFF0000) | type) << 32;
}

static void idt_init(void)
{
	int i;

	for (i = 0; i < NR_TRAPS; i++)
		idt[i] = gate(trap_stubs[i], KERNEL_CS, GATE_INTERRUPT);
	idt[3] = gate(trap_stubs[3], KERNEL_CS, GATE_INTERRUPT_USER);
	idt[4] = gate(trap_stubs[4], KERNEL_CS, GATE_INTERRUPT_USER);
	idt[TRAP_DOUBLE_FAULT] = gate(0, GDT_DOUBLE_FAULT_TSS * 8, GATE_TASK);
	idt[TRAP_SYSCALL] = gate((u32)entry_syscall, KERNEL_CS, GATE_INTERRUPT_USER);
}

static void tss_init(void)
{
	cpu_tss.ss0 = KERNEL_DS;
	cpu_tss.io_bitmap = sizeof(cpu_tss);
	double_fault_tss = (struct tss){
		.cr3 = virt_to_phys(kernel_pgdir),
		.ip = (u32)double_fault_entry,
		.flags = FLAGS_FIXED,
		.sp = (u32)double_fault_stack + sizeof(double_fault_stack),
		.cs = KERNEL_CS,
		.ss = KERNEL_DS,
		.ds = KERNEL_DS,
		.es = KERNEL_DS,
		.io_bitmap = sizeof(struct tss),
	};
	gdt[GDT_TSS] = tss_descriptor(&cpu_tss);
	gdt[GDT_DOUBLE_FAULT_TSS] = tss_descriptor(&double_fault_tss);
}

void descriptors_init(void)
{
	struct table_register gdtr = { sizeof(gdt) - 1, gdt };
	struct table_register idtr = { sizeof(idt) - 1, idt };

	idt_init();
	tss_init();
	__asm__ volatile("lgdt %0\n\t"
			 "ljmp %1, $1f\n"
			 "1:\tmov %2, %%ds\n\t"
			 "mov %2, %%es\n\t"
			 "mov %2, %%ss\n\t"
			 "mov %3, %%fs\n\t"
			 "mov %3, %%gs\n\t"
			 "lidt %4\n\t"
			 "lldt %w3\n\t"
			 "ltr %w5" ::"m"(gdtr),
			 "i"(KERNEL_CS), "r"(KERNEL_DS), "r"(0), "m"(idtr), "r"(GDT_TSS * 8)
			 : "memory");
}

void descriptors_load_tls(const u64 tls[3])
{
	gdt[GDT_TLS_FIRST] = tls[0];
	gdt[GDT_TLS_FIRST + 1] = tls[1];
	gdt[GDT_TLS_FIRST + 2] = tls[2];
}

void tss_set_stack(u32 top)
{
	cpu_tss.sp0 = top;
}

void tss_interrupted(struct pt_regs *regs)
{
	*regs = (struct pt_regs){
		.gs = cpu_tss.gs,
		.fs = cpu_tss.fs,
		.es = cpu_tss.es,
		.ds = cpu_tss.ds,
		.di = cpu_tss.di,
		.si = cpu_tss.si,
		.bp = cpu_tss.bp,
		.bx = cpu_tss.bx,
		.dx = cpu_tss.dx,
		.cx = cpu_tss.cx,
		.ax = cpu_tss.ax,
		.trapno = TRAP_DOUBLE_FAULT,
		.ip = cpu_tss.ip,
		.cs = cpu_tss.cs,
		.flags = cpu_tss.flags,
		.sp = cpu_tss.sp,
		.ss = cpu_tss.ss,
	};
}
