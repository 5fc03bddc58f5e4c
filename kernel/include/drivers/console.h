/* Where messages and the terminal's output go: COM1 and, if there is one, the screen. */
#ifndef DRIVERS_CONSOLE_H
#define DRIVERS_CONSOLE_H

#include "types.h"

/* The very first thing at boot: output only. */
void console_init(void);
/* Any context; never sleeps. A newline also returns the carriage. */
void console_write(const char *buf, size_t n);

#endif
