/* A pipe, for the files that know its ring: pipe.c has the theory, pipe_size.c changes the size. */
#ifndef FS_PIPE_INTERNAL_H
#define FS_PIPE_INTERNAL_H

#include "fs/vfs.h"

#define PIPE_PAGES 16u /* of a new pipe */

struct pipe {
	char **page; /* lock: the ring, of nr_slots */
	u32 nr_slots; /* lock: a power of two */
	u32 nr_pages; /* lock: number of allocated pages */
	u32 head, tail; /* lock */
	u32 readers, writers; /* open ends */
	u32 nr_readers, nr_writers; /* ever opened */
	struct mutex lock;
	struct wait_queue readable, writable;
	char *first[PIPE_PAGES]; /* the ring, unless the size was changed */
};

static inline u32 size_of(const struct pipe *p)
{
	return p->nr_slots << PAGE_SHIFT;
}

/* The place in the ring of the byte at this count. */
static inline u32 page_index(const struct pipe *p, u32 count)
{
	return count / PAGE_SIZE & (p->nr_slots - 1);
}

#endif
