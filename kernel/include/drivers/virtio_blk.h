/* Disks behind virtio: drivers/virtio_blk.c. */
#ifndef DRIVERS_VIRTIO_BLK_H
#define DRIVERS_VIRTIO_BLK_H

#include "types.h"

/* Registers vda, vdb, ..., those that are there; false: there is none. Boot only, once, while
 * boot_alloc works; no sleep. */
bool virtio_blk_find(void);

#endif
