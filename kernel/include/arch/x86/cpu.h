/* Control registers and instructions that C cannot express. */
#ifndef ARCH_X86_CPU_H
#define ARCH_X86_CPU_H

#include "types.h"

#define CR0_MP 0x2u
#define CR0_EM 0x4u
#define CR0_TS 0x8u
#define CR0_NE 0x20u
#define CR4_PGE 0x80u
#define CR4_OSFXSR 0x200u
#define CR4_OSXMMEXCPT 0x400u

static inline u32 read_cr0(void)
{
	u32 v;

	__asm__ volatile("mov %%cr0, %0" : "=r"(v));
	return v;
}

static inline void write_cr0(u32 v)
{
	__asm__ volatile("mov %0, %%cr0" ::"r"(v));
}

static inline u32 read_cr2(void)
{
	u32 v;

	__asm__ volatile("mov %%cr2, %0" : "=r"(v));
	return v;
}

static inline u32 read_cr3(void)
{
	u32 v;

	__asm__ volatile("mov %%cr3, %0" : "=r"(v));
	return v;
}

static inline void write_cr3(u32 v)
{
	__asm__ volatile("mov %0, %%cr3" ::"r"(v) : "memory");
}

static inline u32 read_cr4(void)
{
	u32 v;

	__asm__ volatile("mov %%cr4, %0" : "=r"(v));
	return v;
}

static inline void write_cr4(u32 v)
{
	__asm__ volatile("mov %0, %%cr4" ::"r"(v));
}

static inline void clts(void)
{
	__asm__ volatile("clts");
}

static inline void stts(void)
{
	write_cr0(read_cr0() | CR0_TS);
}

static inline void invlpg(u32 va)
{
	__asm__ volatile("invlpg (%0)" ::"r"(va) : "memory");
}

/* Lets pending interrupts be delivered. The first nop absorbs the one instruction for which sti
 * delays them. */
static inline void irq_take_pending(void)
{
	__asm__ volatile("sti\n\tnop\n\tnop\n\tcli" ::: "memory");
}

/* Feature bits of CPUID leaf 1, register edx. */
static inline u32 cpuid_features(void)
{
	u32 a = 1, b, c, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return d;
}

#define CPUID_APIC (1u << 9)
#define CPUID_SEP (1u << 11)

#define MSR_SYSENTER_CS 0x174u
#define MSR_SYSENTER_ESP 0x175u
#define MSR_SYSENTER_EIP 0x176u

static inline void wrmsr(u32 msr, u32 value)
{
	__asm__ volatile("wrmsr" ::"c"(msr), "a"(value), "d"(0));
}

/* An entry of the exception table: a fault at an instruction `from` to `last` continues at `to`. */
#define EX_TABLE_RANGE(from, last, to)                                                             \
	".pushsection __ex_table, \"a\"\n\t"                                                       \
	".long " #from ", " #last ", " #to "\n\t"                                                  \
	".popsection\n\t"
#define EX_TABLE(from, to) EX_TABLE_RANGE(from, from, to)

#endif
