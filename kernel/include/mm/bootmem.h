/* The boot-time allocator: a bump pointer over the usable low memory, before the buddy. */
#ifndef MM_BOOTMEM_H
#define MM_BOOTMEM_H

#include "types.h"

/* Returns zeroed, direct-mapped memory that is never freed. Panics if there is not enough. */
void *boot_alloc(size_t bytes, size_t align);

/* Frees the frames of the initramfs, up to the frame that holds this address, into the allocator. */
void bootmem_free_initramfs(const void *upto);

/* Initializes memory management in order, from the memory map to a working kmalloc. */
void mm_init(void);

/* Physical memory above mem=, for the simulated swap disk: bytes [*start, *end). */
void bootmem_store_range(u64 *start, u64 *end);
/* Does this range exist as usable memory, and does it lie above mem=? */
bool bootmem_is_spare(u64 start, u64 end);

#endif
