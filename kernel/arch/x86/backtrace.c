/*
 * Backtraces: frames are linked by ebp (-fno-omit-frame-pointer). Names come from the table that
 * the build creates after the first link. Every address is checked to be mapped before it is read,
 * because a backtrace is needed when data may be corrupt.
 */
#include "arch/machine.h"
#include "arch/mmu.h"
#include "internal.h"
#include "lib/printf.h"

#define MAX_FRAMES 24

extern const u32 ksyms_count, ksyms_addrs[], ksyms_offsets[];
extern const char ksyms_names[];
extern const char __text_start[], __text_end[];

static bool kernel_text(u32 addr)
{
	return addr >= (u32)__text_start && addr < (u32)__text_end;
}

static bool readable(u32 addr)
{
	return addr >= KERNEL_BASE && !(addr & 3) && kernel_page_mapped(addr) &&
	       kernel_page_mapped(addr + 4);
}

u32 ksym_count(void)
{
	return ksyms_count;
}

const char *ksym_at(u32 i)
{
	return ksyms_names + ksyms_offsets[i];
}

int ksym_index(u32 addr)
{
	u32 low = 0, high = ksyms_count;

	if (!kernel_text(addr))
		return -1;
	while (low < high) {
		u32 mid = (low + high) / 2;

		if (ksyms_addrs[mid] <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return (int)low - 1;
}

char *ksym_name(u32 addr, char *buf, size_t size)
{
	int i = ksym_index(addr);

	if (i < 0)
		snprintf(buf, size, "%#x", addr);
	else
		snprintf(buf, size, "%s+%#x", ksym_at(i), addr - ksyms_addrs[i]);
	return buf;
}

static void print_frame(u32 ip)
{
	char name[64];

	printk("  %08x %s\n", ip, ksym_name(ip, name, sizeof(name)));
}

static void walk(u32 bp)
{
	int i;

	for (i = 0; i < MAX_FRAMES && readable(bp); i++) {
		const u32 *frame = (const u32 *)bp;

		if (!kernel_text(frame[1]))
			break;
		print_frame(frame[1]);
		if (frame[0] <= bp)
			break;
		bp = frame[0];
	}
}

void backtrace(void)
{
	printk("backtrace:\n");
	walk((u32)__builtin_frame_address(0));
}

void backtrace_callers(u32 *ips, u32 max)
{
	u32 bp = (u32)__builtin_frame_address(0);

	for (u32 i = 0; i < max; i++) {
		const u32 *frame = (const u32 *)bp;

		ips[i] = readable(bp) && kernel_text(frame[1]) ? frame[1] : 0;
		bp = ips[i] ? frame[0] : 0;
	}
}

void backtrace_regs(const struct pt_regs *regs)
{
	printk("backtrace:\n");
	print_frame(regs->ip);
	if (!(regs->cs & 3))
		walk(regs->bp);
}

void print_regs(const struct pt_regs *r)
{
	bool user = r->cs & 3;
	u32 sp = user || r->trapno == TRAP_DOUBLE_FAULT ? r->sp : (u32)&r->sp;

	printk("eax=%08x ebx=%08x ecx=%08x edx=%08x\n", r->ax, r->bx, r->cx, r->dx);
	printk("esi=%08x edi=%08x ebp=%08x esp=%08x\n", r->si, r->di, r->bp, sp);
	printk("eip=%08x eflags=%08x cs=%02x ds=%02x es=%02x fs=%02x gs=%02x\n", r->ip, r->flags,
	       r->cs & 0xFFFF, r->ds & 0xFFFF, r->es & 0xFFFF, r->fs & 0xFFFF, r->gs & 0xFFFF);
	printk("trap=%u error=%#x\n", r->trapno, r->error_code);
}
