/* The memory that the driver and the allocator share; see allocator.h. */
#include "allocator.h"
#include <sanitizer/asan_interface.h>

enum { REDZONE = 4096 };

size_t shared_size(u32 nr_frames)
{
	return sizeof(struct zone) + nr_frames * sizeof(struct page) + 3 * REDZONE;
}

struct zone *place_zone(char *memory, size_t size)
{
	struct zone *zone = (struct zone *)(memory + REDZONE);

	mem_map = (struct page *)((char *)(zone + 1) + REDZONE);
	max_pfn = (size - shared_size(0)) / sizeof(struct page);
	ASAN_POISON_MEMORY_REGION(memory, REDZONE);
	ASAN_POISON_MEMORY_REGION(zone + 1, REDZONE);
	ASAN_POISON_MEMORY_REGION(mem_map + max_pfn, REDZONE);
	return zone;
}
