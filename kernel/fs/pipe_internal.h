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

/* Wakes the tasks that wait for this, and tells those that poll. */
static inline void pipe_wake(struct wait_queue *wq)
{
	if (!list_empty(&wq->waiters))
		wake_up(wq);
	file_poll_changed();
}

/* pipe.c. Returns a pipe without ends, or NULL if out of memory; frees the inode's pipe. */
struct pipe *pipe_new(void);
void pipe_free(struct inode *inode);
/* Closes this number of ends, and frees the pipe with the last end. */
void pipe_close_ends(struct inode *inode, u32 readers, u32 writers);
extern const struct file_operations pipe_read_fops, pipe_write_fops;
long pipe_read(struct file *f, void *user, size_t n, u64 *pos);
long pipe_write(struct file *f, const void *user, size_t n, u64 *pos);

#endif
