/* Disks on the first channel of the IDE controller: drivers/ata.c. */
#ifndef DRIVERS_ATA_H
#define DRIVERS_ATA_H

#include "types.h"

/* Registers hda and hdb if they exist. Returns false if there is no controller. Boot only, once.
 * boot. Polls, does not sleep. */
bool ata_find(void);

#endif
