/* The boot-time allocator: a bump pointer over the usable low memory, before the buddy. */
#ifndef MM_BOOTMEM_H
#define MM_BOOTMEM_H

#include "types.h"

/* Returns zeroed, direct-mapped memory that is never freed. Panics if there is not enough. */
void *boot_alloc(size_t bytes, size_t align);

/* Frees the frames of the initramfs, up to the frame that holds this address, into the allocator. */
void bootmem_free_initramfs(const void *upto);

/* Memory above mem=, which a disk in memory uses as its store. */
struct bootmem_store {
	bool needed;
	u64 size; /* bytes; 0: as much as possible */
	u64 end; /* it must lie below this address; 0: anywhere */
};

/* Sets up the memory map, page tables and zones. From then on boot_alloc works, until
 * bootmem_end. run: the machine's command, for which a future must have been recorded. */
void bootmem_init(const char *run, const struct bootmem_store *wanted);
/* Frees all frames that are not in use into the zones. From then on kmalloc works. */
void bootmem_end(void);

/* The future references (lib/future.h), if the lab has put them into memory; otherwise NULL. */
void *bootmem_future(void);

/* Physical memory above mem=, for the simulated swap disk: bytes [*start, *end). */
void bootmem_store_range(u64 *start, u64 *end);
/* Does this range exist as usable memory, and does it lie above mem=? */
bool bootmem_is_spare(u64 start, u64 end);

#endif
