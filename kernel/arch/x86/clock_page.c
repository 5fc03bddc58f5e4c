/*
 * The page by which programs read the clock themselves (vdso/clock.c): it is kept up to date here.
 *
 * Only `zero` ever changes, when the clock has stood still while the kernel inspected the machine
 * (time.c). A program may have been interrupted right then, between reading the TSC and subtracting
 * `zero`. It must not notice. With a sequence count it would read again, and so execute other
 * instructions than without the inspection, which would change the run. So its registers are
 * corrected instead: the three instructions concerned are at a known place (read_cycles).
 *
 * Only the program that the timer interrupt found is corrected. If another task runs next, or a handler of a
 * signal, many inspections may follow before this reading continues. So it then begins again, in any case (trap.c).
 */
#include "arch/irq.h"
#include "arch/mmu.h"
#include "arch/task.h"
#include "arch/time.h"
#include "arch/vdso.h"
#include "internal.h"
#include "sched/current.h"

static u32 shared_pfn;

static void correct_reader(u64 old_zero, u64 zero)
{
	struct pt_regs *regs = task_regs(current);
	u32 offset = in_interrupt() && irq_found_program() ? regs->ip - clock_reader : 0;
	u64 cycles = (u64)regs->dx << 32 | regs->ax;

	if (offset == READ_CYCLES_SUB) {
		cycles += zero - old_zero;
		regs->ax = cycles;
		regs->dx = cycles >> 32;
	} else if (offset == READ_CYCLES_SBB) { /* the low word is the result's already */
		regs->dx += (u32)(zero >> 32) - (u32)(old_zero >> 32);
	}
}

static void clock_moved(u64 zero)
{
	struct clock_page *page = kmap_pfn(shared_pfn);

	if (page->zero)
		correct_reader(page->zero, zero);
	page->zero = zero;
	kunmap(page);
}

void clock_page_init(u32 pfn, u32 reader)
{
	struct clock_page *page = kmap_pfn(pfn);

	shared_pfn = pfn;
	clock_reader = reader;
	clock_share(&page->realtime_ns, &page->ns_scale, clock_moved);
	kunmap(page);
}
