/*
 * PCI configuration space, by mechanism #1 of the PCI Local Bus Specification 2.1: an address
 * (enable bit, bus, device, function, register) is written to one port, and the register is read or
 * written at another (3.7.4.1). A missing device reads as all ones. A device has one function,
 * unless its header type says that it has up to eight (6.2.1).
 *
 * Only bus 0 is searched, which has a PC's own controllers. Bridges to other buses are left out.
 */
#include "drivers/pci.h"

#include "arch/x86/io.h"

enum { CONFIG_ADDRESS = 0xCF8, CONFIG_DATA = 0xCFC };
enum { NR_DEVICES = 32, NR_FUNCTIONS = 8 };
#define ENABLE 0x80000000u
#define NOBODY 0xFFFFFFFFu
#define MULTIFUNCTION (0x80u << 16)

u32 pci_read(u32 function, u8 offset)
{
	outl(CONFIG_ADDRESS, function | offset);
	return inl(CONFIG_DATA);
}

void pci_write(u32 function, u8 offset, u32 value)
{
	outl(CONFIG_ADDRESS, function | offset);
	outl(CONFIG_DATA, value);
}

/* A function to look for: its register at `offset`, shifted right by `shift`, has this value. */
struct wanted {
	u8 offset, shift;
	u32 value;
	u32 skip; /* number of matches to skip */
};

static u32 find_in_device(u32 device, struct wanted *w)
{
	u32 n = pci_read(device, PCI_HEADER) & MULTIFUNCTION ? NR_FUNCTIONS : 1;

	for (u32 i = 0; i < n; i++) {
		u32 function = device | i << 8;

		if (pci_read(function, PCI_ID) != NOBODY &&
		    pci_read(function, w->offset) >> w->shift == w->value && !w->skip--)
			return function;
	}
	return 0;
}

static u32 find(struct wanted w)
{
	u32 found = 0;

	for (u32 i = 0; i < NR_DEVICES && !found; i++) {
		u32 device = ENABLE | i << 11;

		if (pci_read(device, PCI_ID) != NOBODY)
			found = find_in_device(device, &w);
	}
	return found;
}

u32 pci_find(u16 class)
{
	return find((struct wanted){ PCI_CLASS, 16, class, 0 });
}

u32 pci_find_id(u32 id, u32 n)
{
	return find((struct wanted){ PCI_ID, 0, id, n });
}
