/* The disks to look for: the parameter disk=; and what is on them. */
#ifndef DRIVERS_DISKS_H
#define DRIVERS_DISKS_H

#include "types.h"

/* Returns true if name is a disk of the machine, or a partition of one (hda, vda2). Its kind is
 * then looked for, as with disk=. sda needs its own disk=. */
bool disks_want(const char *name);

/*
 * Finds the disks and registers them, while memory is being set up. Requests are possible once
 * interrupts are on. If a disk named by disk= is missing, prints the reason and ends the machine.
 */
void disks_find(void);

/* Reads the partition tables of unclaimed disks and prints what they contain. Sleeps. */
void disks_scan(void);

#endif
