/* Kernel messages. */
#include "drivers/console.h"
#include "lib/printf.h"

int printk(const char *fmt, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	n = MIN(n, (int)sizeof(text) - 1);
	console_write(text, n);
	return n;
}
