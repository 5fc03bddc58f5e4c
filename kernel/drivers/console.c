/* The console: the first serial port, and the screen if there is one. */
#include "drivers/console.h"
#include "arch/irq.h"
#include "drivers/serial.h"
#include "drivers/vga.h"
#include "lib/string.h"

static bool have_screen;

void console_init(void)
{
	serial_init();
	have_screen = vga_init();
}

/* A terminal on the serial line needs carriage return and line feed. An interrupt echoes typed
 * input; it must not find the screen's cursor or the chip's queue in an inconsistent state. */
void console_write(const char *buf, size_t n)
{
	const char *end = buf + n, *newline;
	unsigned long flags = irq_save();

	if (have_screen)
		vga_write(buf, n);
	while ((newline = memchr(buf, '\n', end - buf))) {
		serial_write(buf, newline - buf);
		serial_write("\r\n", 2);
		buf = newline + 1;
	}
	serial_write(buf, end - buf);
	irq_restore(flags);
}
