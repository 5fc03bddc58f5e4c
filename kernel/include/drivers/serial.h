/* The two serial ports: COM1 is the console, COM2 carries telemetry to the host. */
#ifndef DRIVERS_SERIAL_H
#define DRIVERS_SERIAL_H

#include "types.h"

void serial_init(void);
/* Waits until the port has accepted all bytes. */
void serial_write(const char *buf, size_t n);
/* From now on passes each received byte to receive(), in irq context. */
void serial_receive(void (*receive)(u8 c));

/* Returns true if there is a second port. */
bool telemetry_present(void);
/* Writes bytes to COM2 without waiting: the emulated port accepts them at any speed. Does nothing
 * without a second port. */
void telemetry_write(const char *buf, size_t n);

#endif
