/* The two serial ports: COM1 is the console, COM2 carries telemetry to the host. */
#ifndef DRIVERS_SERIAL_H
#define DRIVERS_SERIAL_H

#include "types.h"

void serial_init(void);
/* Waits until the port has taken everything. */
void serial_write(const char *buf, size_t n);
/* From now on each byte received is handed to receive(), in irq context. */
void serial_receive(void (*receive)(u8 c));

/* Is there a second port? */
bool telemetry_present(void);
/* Bytes to COM2 without waiting: the emulated port takes them at any speed. Nothing without one. */
void telemetry_write(const char *buf, size_t n);

#endif
