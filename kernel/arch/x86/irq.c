/*
 * The two 8259 interrupt controllers, remapped behind the CPU's exceptions, and one handler per
 * line. A line is unmasked when its handler is installed. Lines 7 and 15 may interrupt spuriously
 * (the request was withdrawn): then the controller's in-service bit is clear.
 */
#include "arch/irq.h"
#include "arch/mmu.h"
#include "arch/x86/cpu.h"
#include "arch/x86/io.h"
#include "arch/x86/regs.h"
#include "internal.h"
#include "lib/assert.h"

enum { PIC1 = 0x20, PIC2 = 0xA0, PIC_EOI = 0x20, PIC_READ_ISR = 0x0B, IRQ_CASCADE = 2 };

enum { APIC_LINT0 = 0x350, APIC_LINT1 = 0x360 };
enum { APIC_DELIVER_NMI = 0x400, APIC_DELIVER_EXTINT = 0x700 };
#define APIC_PFN 0xFEE00u

static void (*handlers[NR_IRQS])(void);
static u16 masked = 0xFFFF & ~(1u << IRQ_CASCADE);
static u32 interrupt_depth;
const struct pt_regs *irq_regs;

void irq_init(void)
{
	outb(PIC1, 0x11);
	outb(PIC2, 0x11);
	outb(PIC1 + 1, TRAP_IRQ0);
	outb(PIC2 + 1, TRAP_IRQ0 + 8);
	outb(PIC1 + 1, 1 << IRQ_CASCADE);
	outb(PIC2 + 1, IRQ_CASCADE);
	outb(PIC1 + 1, 1);
	outb(PIC2 + 1, 1);
	outb(PIC1 + 1, masked & 0xFF);
	outb(PIC2 + 1, masked >> 8);
}

/*
 * With a local APIC, the 8259's interrupts arrive at its first pin and the watchdog's NMI at its
 * second. Some BIOSes connect both pins, some neither.
 */
void irq_connect(void)
{
	u8 *apic;

	if (!(cpuid_features() & CPUID_APIC))
		return;
	apic = kmap_pfn(APIC_PFN);
	*(volatile u32 *)(apic + APIC_LINT0) = APIC_DELIVER_EXTINT;
	*(volatile u32 *)(apic + APIC_LINT1) = APIC_DELIVER_NMI;
	kunmap(apic);
}

bool irqs_disabled(void)
{
	u32 flags;

	__asm__ volatile("pushf\n\tpop %0" : "=r"(flags));
	return !(flags & FLAGS_IF);
}

bool in_interrupt(void)
{
	return interrupt_depth != 0;
}

bool irq_found_program(void)
{
	return regs_from_user(irq_regs);
}

void irq_register(int irq, void (*handler)(void))
{
	unsigned long flags = irq_save();

	ASSERT(irq >= 0 && irq < NR_IRQS);
	handlers[irq] = handler;
	masked &= ~(1u << irq);
	outb(PIC1 + 1, masked & 0xFF);
	outb(PIC2 + 1, masked >> 8);
	irq_restore(flags);
}

static bool spurious(int irq)
{
	u16 port = irq < 8 ? PIC1 : PIC2;

	if ((irq & 7) != 7)
		return false;
	outb(port, PIC_READ_ISR);
	if (inb(port) & 0x80)
		return false;
	if (irq == 15)
		outb(PIC1, PIC_EOI);
	return true;
}

void irq_handle(const struct pt_regs *regs)
{
	int irq = regs->trapno - TRAP_IRQ0;

	if (spurious(irq))
		return;
	interrupt_depth++;
	irq_regs = regs;
	if (irq >= 8)
		outb(PIC2, PIC_EOI);
	outb(PIC1, PIC_EOI);
	handlers[irq]();
	interrupt_depth--;
}
