/*
 * The size of a pipe, by fcntl. The counts of bytes stay, so that page number n of the data, which was at
 * place n modulo the old number of slots, goes to n modulo the new one.
 */
#include "fs/pipe.h"

#include "internal.h"
#include "pipe_internal.h"

#include "lib/string.h"
#include "mm/zone.h"

/* Returns the number of slots for a size, a power of two. */
static u32 slots_for(u32 size)
{
	u32 nr = 1;

	while (nr << PAGE_SHIFT < size)
		nr *= 2;
	return nr;
}

/* In a full ring, the data may end in the page in which they begin. Gives the end a page of its own. */
static bool split_page(struct pipe *p, char **ring, u32 last, u32 nr_slots)
{
	char *page = get_free_pages(GFP_KERNEL | GFP_NORETRY, 0);

	if (!page)
		return false;
	memcpy(page, p->page[page_index(p, p->head)], p->head % PAGE_SIZE);
	ring[last & (nr_slots - 1)] = page;
	p->nr_pages++;
	return true;
}

/* Moves the pages to the new ring. Returns 0 or -errno. Caller holds lock. The page after the last
 * byte may be allocated, too. */
static int move_pages(struct pipe *p, char **ring, u32 nr_slots)
{
	u32 first = p->tail / PAGE_SIZE, last = p->head / PAGE_SIZE;

	if (p->head - p->tail > nr_slots << PAGE_SHIFT)
		return -EBUSY;
	if (p->head % PAGE_SIZE == 0 && last > first)
		last--;
	if (last - first >= nr_slots)
		return -EBUSY;
	if (last - first == p->nr_slots && !split_page(p, ring, last--, nr_slots))
		return -ENOMEM;
	for (u32 n = first; n <= last; n++) {
		ring[n & (nr_slots - 1)] = p->page[n & (p->nr_slots - 1)];
		p->page[n & (p->nr_slots - 1)] = NULL;
	}
	for (u32 i = 0; i < p->nr_slots; i++)
		if (p->page[i]) { /* allocated by a write that then failed */
			free_pages_at(p->page[i], 0);
			p->nr_pages--;
		}
	return 0;
}

static long resize(struct pipe *p, u32 nr_slots)
{
	char **ring = kzalloc(nr_slots * sizeof(*ring), GFP_KERNEL), **old;
	int err;

	if (!ring)
		return -ENOMEM;
	mutex_lock(&p->lock);
	old = p->page;
	err = move_pages(p, ring, nr_slots);
	if (!err) {
		p->page = ring;
		p->nr_slots = nr_slots;
	}
	mutex_unlock(&p->lock);
	if (err)
		kfree(ring);
	else if (old != p->first)
		kfree(old);
	if (!err)
		wake_up(&p->writable);
	return err ? err : (long)(nr_slots << PAGE_SHIFT);
}

long fcntl_pipe(struct file *f, u32 cmd, u32 arg)
{
	enum { F_SETPIPE_SZ = 1031, F_GETPIPE_SZ };
	struct pipe *p = f->inode->pipe;

	if (cmd != F_SETPIPE_SZ && cmd != F_GETPIPE_SZ)
		return -EINVAL;
	if (!p || f->flags & O_PATH)
		return -EBADF;
	if (cmd == F_GETPIPE_SZ)
		return size_of(p);
	if (arg > 1u << 31)
		return -EINVAL;
	if (arg > PIPE_MAX_SIZE)
		return -EPERM;
	if (slots_for(arg) == p->nr_slots)
		return size_of(p);
	return resize(p, slots_for(arg));
}
