/* What the driver of the page allocator and the program that holds the student's allocator share. */
#ifndef ALLOCATOR_H
#define ALLOCATOR_H

#include "host/host.h"
#include "mm/zone.h"

/* Descriptors that the allocator finds open: a socket for calls and answers, and the shared memory. */
enum { CALLS = 3, MEMORY };

/* A call of the allocator, and its result. */
struct call {
	enum { INIT, ALLOC, FREE, CHECK } what;
	struct page *page;
	u32 order;
};
struct answer {
	struct page *page;
	int error;
	char panic[sizeof(host_panic_message)]; /* empty: it returned */
};

/* Prints the reason (errno) and ends the program. */
__attribute__((noreturn)) void give_up(const char *what);
/* Returns the size in bytes of a file with a zone and nr_frames struct pages. */
size_t shared_size(u32 nr_frames);
/*
 * Maps a file of shared_size, at the same address in both programs, and sets mem_map and max_pfn. Before,
 * between and behind the zone and the struct pages lies memory that may not be accessed. Ends the program
 * if it fails.
 */
struct zone *map_shared(int file);

#endif
