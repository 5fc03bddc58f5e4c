/* A disk at the first channel of the IDE controller: drivers/ata.c. */
#ifndef DRIVERS_ATA_H
#define DRIVERS_ATA_H

#include "types.h"

struct block_device;

/*
 * Unit 0 (hda) or 1 (hdb), ready for requests once interrupts are on. NULL: there is no such disk,
 * or none that can be used, and why says so and what there is. Boot only, once; polls, no sleep.
 */
struct block_device *ata_open(u32 unit, char *why, size_t size);

#endif
