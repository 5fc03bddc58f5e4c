/* Which disks the machine is to look for: the parameter disk=; and what is on them. */
#ifndef DRIVERS_DISKS_H
#define DRIVERS_DISKS_H

#include "types.h"

/* Is this the name of a disk of the machine, or of a partition of one (hda, vda2)? Then its kind
 * will be looked for, as disk= does. sda needs a disk= of its own. */
bool disks_want(const char *name);

/*
 * Finds the disks and registers them. While memory is being set up; requests can be made once
 * interrupts are on. When one of disk= is not there the machine ends, and says why.
 */
void disks_find(void);

/* Reads the partition tables of those that nobody holds, and prints what there is. Sleeps. */
void disks_scan(void);

#endif
