/* The memory that the driver and the allocator share; see allocator.h. */
#include "allocator.h"
#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REDZONE = 4096 };

/* Neither a program nor the sanitizers' own memory lies at this address. */
#define SHARED_BASE ((char *)0x60000000)

void give_up(const char *what)
{
	perror(what);
	exit(2);
}

size_t shared_size(u32 nr_frames)
{
	return sizeof(struct zone) + nr_frames * sizeof(struct page) + 3 * REDZONE;
}

struct zone *map_shared(int file)
{
	size_t size = lseek(file, 0, SEEK_END);
	struct zone *zone = (struct zone *)(SHARED_BASE + REDZONE);

	if (mmap(SHARED_BASE, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file,
		 0) != SHARED_BASE)
		give_up("the zone's memory");
	mem_map = (struct page *)((char *)(zone + 1) + REDZONE);
	max_pfn = (size - shared_size(0)) / sizeof(struct page);
	ASAN_POISON_MEMORY_REGION(SHARED_BASE, REDZONE);
	ASAN_POISON_MEMORY_REGION(zone + 1, REDZONE);
	ASAN_POISON_MEMORY_REGION(mem_map + max_pfn, REDZONE);
	return zone;
}
