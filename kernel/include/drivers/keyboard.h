/* The PS/2 keyboard, US layout. */
#ifndef DRIVERS_KEYBOARD_H
#define DRIVERS_KEYBOARD_H

#include "types.h"

/* Passes each typed character to receive(), in irq context. */
void keyboard_init(void (*receive)(u8 c));

#endif
