/* Disks at the first channel of the IDE controller: drivers/ata.c. */
#ifndef DRIVERS_ATA_H
#define DRIVERS_ATA_H

#include "types.h"

/* Registers hda and hdb, those that are there; false: there is no controller. Boot only, once; polls, no sleep. */
bool ata_find(void);

#endif
