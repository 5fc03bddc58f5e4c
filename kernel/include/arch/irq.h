/*
 * Interrupts: masking, and one handler per line. Handlers run with interrupts off, must not sleep,
 * and may only wake tasks, set flags and complete I/O.
 */
#ifndef ARCH_IRQ_H
#define ARCH_IRQ_H

#include "types.h"

enum {
	IRQ_TIMER = 0,
	IRQ_KEYBOARD = 1,
	IRQ_SERIAL2 = 3,
	IRQ_SERIAL1 = 4,
	IRQ_DISK = 14,
	NR_IRQS = 16
};

/* Masks interrupts and returns the former state for irq_restore. */
static inline unsigned long irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("pushf\n\tpop %0\n\tcli" : "=rm"(flags)::"memory");
	return flags;
}

static inline void irq_restore(unsigned long flags)
{
	__asm__ volatile("push %0\n\tpopf" ::"rm"(flags) : "memory", "cc");
}

static inline void irq_enable(void)
{
	__asm__ volatile("sti" ::: "memory");
}

static inline void irq_disable(void)
{
	__asm__ volatile("cli" ::: "memory");
}

bool irqs_disabled(void);

/* Returns true inside an interrupt handler. */
bool in_interrupt(void);

/* The registers that the running interrupt handler interrupted; was it a program in user mode? */
struct pt_regs;
extern const struct pt_regs *irq_regs;
bool irq_found_program(void);

/* Installs the handler of a line and unmasks it. */
void irq_register(int irq, void (*handler)(void));

#endif
