/*
 * Pipes.
 *
 * A pipe is a ring of pages (PIPE_PAGES at first), allocated when the writer reaches them and freed when the
 * reader has left them. head and tail count the bytes ever written and read; the byte at count c is
 * in page c / PAGE_SIZE modulo their number. When the pipe becomes empty, both counts return to zero
 * and the current page becomes page 0. So a pipe for short messages keeps one page and never
 * allocates.
 *
 * A write of up to PIPE_BUF bytes waits until all of it fits, and so is not interleaved with
 * others. Reading an empty pipe waits while there is a writer, and otherwise returns end of file.
 * Writing without a reader fails with EPIPE and SIGPIPE.
 *
 * Copying may sleep (the user's page may be in swap), so a mutex covers a whole transfer. No task
 * waits for data or room while holding it. The pages are in low memory and are copied in place.
 *
 * One inode represents both ends; the pipe is freed with the last of them. pipe_size.c changes
 * the size. Left out: splice.
 */
#include "fs/pipe.h"

#include "internal.h"
#include "pipe_internal.h"

#include "arch/uaccess.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "mm/zone.h"
#include "sched/current.h"

static inline struct pipe *file_pipe(const struct file *f)
{
	return f->inode->pipe;
}

static bool take(struct pipe *p, char **page)
{
	*page = get_free_pages(GFP_KERNEL | GFP_NORETRY, 0);
	p->nr_pages += *page != NULL;
	return *page;
}

static void give_back(struct pipe *p, char *page)
{
	free_pages_at(page, 0);
	p->nr_pages--;
}

static inline u32 used(const struct pipe *p)
{
	return p->head - p->tail;
}

/* Reading. */

/* The n bytes from tail on, all in this page, have been read: advances tail and frees pages. */
static void consume(struct pipe *p, char **page, u32 n)
{
	p->tail += n;
	if (p->tail == p->head) {
		char *last = *page;

		*page = NULL;
		if (p->page[0]) /* allocated by a write that then failed */
			give_back(p, last);
		else
			p->page[0] = last;
		p->head = p->tail = 0;
	} else if (p->tail % PAGE_SIZE == 0 && used(p) <= size_of(p) - PAGE_SIZE) {
		give_back(p, *page);
		*page = NULL;
	}
}

/* Reads up to n available bytes. Returns -EFAULT if none could be copied. Caller holds lock. */
static long read_available(struct pipe *p, char *user, size_t n)
{
	size_t done = 0;

	while (done < n && used(p)) {
		u32 off = p->tail % PAGE_SIZE;
		u32 len = MIN(MIN(n - done, used(p)), PAGE_SIZE - off);
		char **page = &p->page[page_index(p, p->tail)];

		if (copy_to_user(user + done, *page + off, len))
			return done ? (long)done : -EFAULT;
		consume(p, page, len);
		done += len;
	}
	return done;
}

long pipe_read(struct file *f, void *user, size_t n, u64 *pos)
{
	struct pipe *p = file_pipe(f);
	long ret;

	(void)pos;
	if (!n)
		return 0;
	for (;;) {
		mutex_lock(&p->lock);
		ret = read_available(p, user, n);
		mutex_unlock(&p->lock);
		if (ret || !p->writers)
			break;
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		ret = wait_event_interruptible(&p->readable, used(p) || !p->writers);
		if (ret)
			return ret;
	}
	if (ret > 0)
		pipe_wake(&p->writable);
	return ret;
}

/* Writing. */

/* Returns the free bytes that a write of n bytes waits for. */
static inline u32 room_wanted(size_t n)
{
	return n <= PIPE_BUF ? n : 1;
}

static inline bool has_room(const struct pipe *p, size_t n)
{
	return size_of(p) - used(p) >= room_wanted(n);
}

/* Writes as much as fits. Returns bytes, 0 if there is too little room, -EFAULT or -ENOMEM. Caller
 * holds lock. */
static long write_fitting(struct pipe *p, const char *user, size_t n)
{
	size_t done = 0, room = size_of(p) - used(p);

	if (room < room_wanted(n))
		return 0;
	n = MIN(n, room);
	while (done < n) {
		u32 off = p->head % PAGE_SIZE;
		u32 len = MIN(n - done, PAGE_SIZE - off);
		char **page = &p->page[page_index(p, p->head)];

		if (unlikely(!*page) && !take(p, page))
			return done ? (long)done : -ENOMEM;
		if (copy_from_user(*page + off, user + done, len))
			return done ? (long)done : -EFAULT;
		p->head += len;
		done += len;
	}
	return done;
}

static int wait_for_room(struct file *f, struct pipe *p, size_t n)
{
	if (!p->readers)
		return 0;
	if (f->flags & O_NONBLOCK)
		return -EAGAIN;
	return wait_event_interruptible(&p->writable, has_room(p, n) || !p->readers);
}

long pipe_write(struct file *f, const void *user, size_t n, u64 *pos)
{
	struct pipe *p = file_pipe(f);
	size_t done = 0;
	long ret = 0;

	(void)pos;
	while (done < n) {
		if (!p->readers) {
			signal_send_from(current, SIGPIPE, current->pid);
			ret = -EPIPE;
			break;
		}
		mutex_lock(&p->lock);
		ret = write_fitting(p, (const char *)user + done, n - done);
		mutex_unlock(&p->lock);
		if (ret > 0) {
			done += ret;
			pipe_wake(&p->readable);
			continue;
		}
		if (!ret)
			ret = wait_for_room(f, p, n - done);
		if (ret)
			break;
	}
	return done ? (long)done : ret;
}

/* The ends. */

static u32 pipe_read_poll(struct file *f)
{
	const struct pipe *p = file_pipe(f);

	bool had_writer = p->nr_writers != (u32)f->private;

	return (used(p) ? POLLIN : 0) | (p->writers || !had_writer ? 0 : POLLHUP);
}

static u32 pipe_write_poll(struct file *f)
{
	const struct pipe *p = file_pipe(f);

	return (has_room(p, PIPE_BUF) ? POLLOUT : 0) | (p->readers ? 0 : POLLERR);
}

void pipe_free(struct inode *inode)
{
	struct pipe *p = inode->pipe;

	for (u32 i = 0; p->nr_pages; i++)
		if (p->page[i])
			give_back(p, p->page[i]);
	if (p->page != p->first)
		kfree(p->page);
	kfree(p);
	inode->pipe = NULL;
}

/* Closes ends. The pipe is freed with the last one. */
void pipe_close_ends(struct inode *inode, u32 readers, u32 writers)
{
	struct pipe *p = inode->pipe;

	p->readers -= readers;
	p->writers -= writers;
	if (!p->readers && !p->writers) {
		pipe_free(inode);
		return;
	}
	if (!p->readers)
		pipe_wake(&p->writable);
	if (!p->writers)
		pipe_wake(&p->readable);
}

static void pipe_read_release(struct file *f)
{
	pipe_close_ends(f->inode, 1, 0);
}

static void pipe_write_release(struct file *f)
{
	pipe_close_ends(f->inode, 0, 1);
}

const struct file_operations pipe_read_fops = {
	.read = pipe_read,
	.poll = pipe_read_poll,
	.release = pipe_read_release,
};

const struct file_operations pipe_write_fops = {
	.write = pipe_write,
	.poll = pipe_write_poll,
	.release = pipe_write_release,
};

struct pipe *pipe_new(void)
{
	struct pipe *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	p->page = p->first;
	p->nr_slots = PIPE_PAGES;
	mutex_init(&p->lock);
	wait_queue_init(&p->readable);
	wait_queue_init(&p->writable);
	return p;
}

/* Returns an inode with a pipe, both ends open, or NULL if out of memory. */
static struct inode *pipe_inode(void)
{
	struct pipe *p = pipe_new();
	struct inode *inode = p ? inode_alloc(&pipe_sb, S_IFIFO | 0600) : NULL;

	if (!inode) {
		kfree(p);
		return NULL;
	}
	p->readers = p->writers = p->nr_readers = p->nr_writers = 1;
	inode->pipe = p;
	return inode;
}

/* Opens the two ends. An end that cannot be opened is closed again. */
static int open_ends(struct inode *inode, u32 flags, struct file *f[2])
{
	int err;

	inode->fops = &pipe_read_fops;
	err = file_create(inode, flags | O_RDONLY, &f[0]);
	if (err) {
		pipe_close_ends(inode, 1, 1);
		return err;
	}
	inode->fops = &pipe_write_fops;
	err = file_create(inode, flags | O_WRONLY, &f[1]);
	inode_set_special(inode); /* for those who open it again, through /proc */
	if (!err)
		return 0;
	pipe_close_ends(inode, 0, 1);
	file_put(f[0]);
	return err;
}

int do_pipe(struct file *f[2], u32 flags)
{
	struct inode *inode;
	int err;

	if (flags & ~(u32)O_NONBLOCK)
		return -EINVAL;
	inode = pipe_inode();
	if (!inode)
		return -ENOMEM;
	err = open_ends(inode, flags, f);
	inode_put(inode);
	return err;
}
