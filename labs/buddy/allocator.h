/* What the driver of the page allocator and the program that holds the student's allocator share. */
#ifndef ALLOCATOR_H
#define ALLOCATOR_H

#include "../../tests/host/driven/driven.h"
#include "mm/zone.h"

/* The calls. FREE and ALLOC: a is a page's address, or the order; FREE: b is the order. */
enum { INIT, ALLOC, FREE, CHECK };

/* Returns the size in bytes of a memory with a zone and nr_frames struct pages. */
size_t shared_size(u32 nr_frames);
/* Returns the zone in the shared memory of this size, and sets mem_map and max_pfn. Before, between and
 * behind the zone and the struct pages lies memory that may not be accessed. */
struct zone *place_zone(char *memory, size_t size);

#endif
