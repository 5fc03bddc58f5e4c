/* Output of messages and of the terminal: to COM1 and, if there is one, the screen. */
#ifndef DRIVERS_CONSOLE_H
#define DRIVERS_CONSOLE_H

#include "types.h"

/* Called first at boot. Output only. */
void console_init(void);
/* Any context; never sleeps. A newline is sent with a carriage return. */
void console_write(const char *buf, size_t n);

#endif
