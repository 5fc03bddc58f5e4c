/*
 * Clearing and copying frames, and large copies to and from user memory, 16 bytes per instruction.
 *
 * Every demand-zero fault clears a frame, and every copy-on-write fault and swap request copies
 * one, so these two loops are most of their cost: with REP STOSL and MOVSL, which move 4 bytes per
 * iteration, 1,024 iterations each; with SSE registers 280 and 560 instructions. The kernel must
 * not change the SSE registers of the task that owns them (arch/x86/fpu.c), so the registers used
 * here are restored, and so is CR0.TS. An interrupt in between may use the same functions: it
 * restores what it finds. With user memory, interrupts are off: a missing page then ends the copy
 * (arch/x86/trap.c), because another task must not run with these registers.
 */
#include "arch/irq.h"
#include "arch/mmu.h"
#include "arch/x86/cpu.h"
#include "internal.h"

#define TURN WIDE /* bytes per iteration of a loop */

static u32 sse_begin(void)
{
	u32 cr0 = read_cr0();

	if (cr0 & CR0_TS)
		clts();
	return cr0;
}

static void sse_end(u32 cr0)
{
	if (cr0 & CR0_TS)
		write_cr0(cr0);
}

/* clang-format off */
#define EACH_16(op) op(0) op(16) op(32) op(48) op(64) op(80) op(96) op(112) \
		    op(128) op(144) op(160) op(176) op(192) op(208) op(224) op(240) \
		    op(256) op(272) op(288) op(304) op(320) op(336) op(352) op(368) \
		    op(384) op(400) op(416) op(432) op(448) op(464) op(480) op(496)
#define STORE(offset) "movaps %%xmm0, " #offset "(%0)\n\t"
#define MOVE(offset) "movaps " #offset "(%1), %%xmm0\n\t" "movaps %%xmm0, " #offset "(%0)\n\t"

void clear_page(void *page)
{
	void *end = (char *)page + PAGE_SIZE;
	u8 saved[16];
	u32 cr0 = sse_begin();

	__asm__ volatile("movups %%xmm0, %1\n\t"
			 "xorps %%xmm0, %%xmm0\n"
			 "1:\n\t"
			 EACH_16(STORE)
			 "add %3, %0\n\t"
			 "cmp %2, %0\n\t"
			 "jne 1b\n\t"
			 "movups %1, %%xmm0"
			 : "+r"(page), "=m"(saved)
			 : "r"(end), "i"(TURN)
			 : "memory", "cc");
	sse_end(cr0);
}

void copy_page(void *to, const void *from)
{
	void *end = (char *)to + PAGE_SIZE;
	u8 saved[16];
	u32 cr0 = sse_begin();

	__asm__ volatile("movups %%xmm0, %2\n"
			 "1:\n\t"
			 EACH_16(MOVE)
			 "add %4, %0\n\t"
			 "add %4, %1\n\t"
			 "cmp %3, %0\n\t"
			 "jne 1b\n\t"
			 "movups %2, %%xmm0"
			 : "+r"(to), "+r"(from), "=m"(saved)
			 : "r"(end), "i"(TURN)
			 : "memory", "cc");
	sse_end(cr0);
}

#define USER_MOVE(offset) "movups " #offset "(%1), %%xmm0\n\t" "movups %%xmm0, " #offset "(%0)\n\t"

size_t copy_user_wide(void *to, const void *from, size_t n)
{
	unsigned long flags = irq_save();
	u32 cr0 = sse_begin();
	u8 saved[16];

	__asm__ volatile("movups %%xmm0, %3\n"
			 "1:\n\t"
			 EACH_16(USER_MOVE)
			 "2:\tadd %4, %0\n\t"
			 "add %4, %1\n\t"
			 "sub %4, %2\n\t"
			 "jne 1b\n"
			 "3:\tmovups %3, %%xmm0\n\t"
			 EX_TABLE_RANGE(1b, 2b, 3b)
			 : "+r"(to), "+r"(from), "+r"(n), "=m"(saved)
			 : "i"(TURN)
			 : "memory", "cc");
	sse_end(cr0);
	irq_restore(flags);
	return n;
}
