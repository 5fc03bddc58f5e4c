/* PCI configuration space: finding a device and setting it up. Boot only: there is no locking. */
#ifndef DRIVERS_PCI_H
#define DRIVERS_PCI_H

#include "types.h"

/* Offsets of registers in a function's configuration space, 32 bits each. */
enum {
	PCI_ID = 0x00,      /* device << 16 | vendor */
	PCI_COMMAND = 0x04, /* status << 16 | command */
	PCI_CLASS = 0x08, /* class << 24 | subclass << 16 | programming interface << 8 | revision */
	PCI_HEADER = 0x0C, /* header type in bits 16-23 */
	PCI_BAR0 = 0x10,
	PCI_BAR4 = 0x20,
	PCI_INTERRUPT = 0x3C, /* the interrupt line, in the lowest byte */
};
enum { PCI_COMMAND_IO = 1, PCI_COMMAND_MASTER = 4 };

/* Returns the first function on bus 0 of a class (class << 8 | subclass), for use with the
 * functions below, or 0 if there is none. */
u32 pci_find(u16 class);
/* Returns function n, from 0, of a device (device << 16 | vendor), or 0. */
u32 pci_find_id(u32 id, u32 n);

u32 pci_read(u32 function, u8 offset);
void pci_write(u32 function, u8 offset, u32 value);

#endif
