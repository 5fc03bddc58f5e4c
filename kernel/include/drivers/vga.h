/* The text screen, 80 x 25. */
#ifndef DRIVERS_VGA_H
#define DRIVERS_VGA_H

#include "types.h"

/* False: there is no such screen, and writing does nothing. */
bool vga_init(void);
void vga_write(const char *buf, size_t n);

#endif
