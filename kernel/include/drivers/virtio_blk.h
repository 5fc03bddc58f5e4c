/* Disks behind virtio: drivers/virtio_blk.c. */
#ifndef DRIVERS_VIRTIO_BLK_H
#define DRIVERS_VIRTIO_BLK_H

#include "types.h"

/* Registers vda, vdb, ..., as many as exist. Returns false if there is none. Call once, at boot,
 * while boot_alloc works. Does not sleep. */
bool virtio_blk_find(void);

#endif
