/* What the files of the simulator share that an allocator does not need. */
#ifndef SIM_H
#define SIM_H

#include "allocsim.h"
#include "mm/zone.h"
#include <stdio.h>

/* Frames of the host's mem_map: the pages that are lent, the kernel's buddy as an allocator, and the
 * zones of a log. Each begins at a multiple of the largest block. */
enum {
	ARENA_PAGES = 1 << 15,
	UNITS_AT = ARENA_PAGES,
	LOGGED_AT = UNITS_AT + MAX_UNITS,
	FRAMES_END = LOGGED_AT + (1 << 18),
};

extern char *host_ram;
extern const struct allocator *const __start_allocators[], *const __stop_allocators[];
#define for_each_allocator(a) for ((a) = __start_allocators; (a) < __stop_allocators; (a)++)

/* Prints a sentence on bad input and exits with status 3. */
__attribute__((noreturn, format(printf, 1, 2))) void bad(const char *fmt, ...);

/* pages.c */
void machine_create(void);
/* All pages are free, and the tally is 0. Call before an allocator's start. */
void pages_start(void);
void zone_fill(struct zone *z, u32 first, u32 nr);

/* kernel.c: counts in the kernel's own buddy, which is not changed, from outside. */
u32 zone_blocks(const struct zone *z);

/* A block in use, as its allocator knows it. size 0: none. */
struct handle {
	u32 address, size;
};

/* log.c: an event of the plugin's log, whose format is at the top of tools/plugin/alloc.c. */
struct event {
	char kind; /* the line's first letter */
	u32 address; /* of an object; the frame of a block; a zone's first frame */
	u32 size; /* bytes; a block's order; a zone's end; a cache's size */
	u32 number; /* of the zone or cache; a cache's alignment */
	char name[64]; /* the caller; a cache's name; the function of an s */
	struct handle *
		handle; /* what the reader noted when this memory was allocated; kept until its free */
};
void log_open(const char *name);
/* Returns false at the end. Any line that does not fit ends the program with a sentence. */
bool log_next(struct event *e);
/* Ends the program with a sentence about the last line. */
__attribute__((noreturn)) void log_contradicts(const char *what);

/* replay.c, check.c, traffic.c: the modes; each prints CSV or text. */
void replay(const char *log, bool frames);
void check(const char *log);
void waste(void);
void random_traffic(void);
void alternating(void);

#endif
