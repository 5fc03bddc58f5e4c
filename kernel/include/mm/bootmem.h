/* The boot-time allocator: a bump pointer over the usable low memory, before the buddy. */
#ifndef MM_BOOTMEM_H
#define MM_BOOTMEM_H

#include "types.h"

/* Bytes of zeroed direct-mapped memory that is never given back; panics when there is none. */
void *boot_alloc(size_t bytes, size_t align);

/* Gives the initramfs's frames to the allocator, up to the one that holds this address. */
void bootmem_free_initramfs(const void *upto);

/* Memory management from the memory map to a working kmalloc, in order. */
void mm_init(void);

/* Physical memory above mem=, for the modelled swap disk: bytes [*start, *end). */
void bootmem_store_range(u64 *start, u64 *end);
/* Is there such memory, and above mem=? */
bool bootmem_is_spare(u64 start, u64 end);

#endif
