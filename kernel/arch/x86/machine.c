/* Starts the parts of the machine, and ends it. */
#include "arch/machine.h"
#include "arch/irq.h"
#include "arch/task.h"
#include "arch/x86/io.h"
#include "internal.h"
#include "lib/printf.h"

enum { DEBUG_EXIT = 0xF4, ACPI_PM1_CONTROL = 0x604, ACPI_SLEEP_S5 = 0x2000 };

void arch_init(void)
{
	descriptors_init();
	irq_init();
	fpu_init();
	irq_enable();
}

static void __noreturn halt_forever(void)
{
	for (;;)
		__asm__ volatile("cli\n\thlt");
}

/* QEMU's exit device ends QEMU with a status, but may let the CPU run on for a while, which must have
 * no effect. Without the device, a regular end powers the machine off; at any other end the message
 * stays on the screen. */
void __noreturn machine_exit(enum machine_exit code)
{
	bool present = inl(DEBUG_EXIT) != 0xFFFFFFFF;

	irq_disable();
	watchdog_pause();
	outl(DEBUG_EXIT, code);
	if (present)
		halt_forever();
	if (code == EXIT_OK || code == EXIT_FAILED) {
		outw(ACPI_PM1_CONTROL, ACPI_SLEEP_S5);
		printk("It is now safe to turn off the computer.\n");
	}
	halt_forever();
}

/* Reboots by the keyboard controller or, if that fails, by a triple fault. */
void __noreturn machine_reboot(void)
{
	static const struct {
		u16 limit;
		u32 base;
	} __attribute__((packed)) no_idt;

	irq_disable();
	outb(0x64, 0xFE);
	__asm__ volatile("lidt %0\n\tint3" ::"m"(no_idt));
	halt_forever();
}
