/* The text screen, 80 x 25. */
#ifndef DRIVERS_VGA_H
#define DRIVERS_VGA_H

#include "types.h"

/* Returns false if there is no such screen; writing then does nothing. */
bool vga_init(void);
void vga_write(const char *buf, size_t n);

#endif
