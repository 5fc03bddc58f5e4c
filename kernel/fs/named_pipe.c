/*
 * FIFOs: pipes with a name. The pipe is created when the first end is opened and freed with the
 * last. Opening waits until the other end has been opened, even if it is closed again meanwhile. A
 * pipe without a name has had both ends: opening one again, through /proc, does not wait.
 */
#include "internal.h"
#include "pipe_internal.h"

#include "lib/stages.h"
#include "lib/string.h"
#include "sched/current.h"

static void pipe_both_release(struct file *f)
{
	pipe_close_ends(f->inode, 1, 1);
}

static u32 pipe_both_poll(struct file *f)
{
	return pipe_read_fops.poll(f) | pipe_write_fops.poll(f);
}

static const struct file_operations both_fops = {
	.read = pipe_read,
	.write = pipe_write,
	.poll = pipe_both_poll,
	.release = pipe_both_release,
};

static bool has_name(const struct inode *inode)
{
	return inode->sb != &pipe_sb;
}

/* Returns 0 or -ERESTARTSYS. */
static int wait_for(struct wait_queue *wq, const u32 *open, const u32 *ever)
{
	u32 before = *ever;

	return wait_event_interruptible(wq, *open || *ever != before);
}

static int open_to_read(struct file *f, struct pipe *p)
{
	int err = 0;

	f->fops = &pipe_read_fops;
	p->readers++;
	p->nr_readers++;
	pipe_wake(&p->writable);
	if (p->writers || !has_name(f->inode)) {
		f->private = (void *)(p->nr_writers - 1);
		return 0;
	}
	f->private = (void *)p->nr_writers;
	if (!(f->flags & O_NONBLOCK)) {
		err = wait_for(&p->readable, &p->writers, &p->nr_writers);
		if (err)
			pipe_close_ends(f->inode, 1, 0);
	}
	return err;
}

static int open_to_write(struct file *f, struct pipe *p)
{
	int err = 0;

	f->fops = &pipe_write_fops;
	if (!p->readers && has_name(f->inode) && f->flags & O_NONBLOCK) {
		if (!p->writers)
			pipe_free(f->inode);
		return -ENXIO;
	}
	p->writers++;
	p->nr_writers++;
	pipe_wake(&p->readable);
	if (!p->readers && has_name(f->inode)) {
		err = wait_for(&p->writable, &p->readers, &p->nr_readers);
		if (err)
			pipe_close_ends(f->inode, 0, 1);
	}
	return err;
}

static int open_both(struct file *f, struct pipe *p)
{
	f->fops = &both_fops;
	p->readers++;
	p->writers++;
	p->nr_readers++;
	p->nr_writers++;
	pipe_wake(&p->readable);
	pipe_wake(&p->writable);
	return 0;
}

static int fifo_open(struct file *f)
{
	struct pipe *p = f->inode->pipe, *new;

	if (!file_may_read(f) && !file_may_write(f))
		return -EINVAL;
	new = p ? NULL : pipe_new();
	if (!p && !new)
		return -ENOMEM;
	p = f->inode->pipe; /* another task may have been faster */
	if (p)
		kfree(new);
	else
		p = f->inode->pipe = new;
	if (!file_may_write(f))
		return open_to_read(f, p);
	return (f->flags & O_ACCMODE) == O_WRONLY ? open_to_write(f, p) : open_both(f, p);
}

static const struct file_operations fifo_fops = { .open = fifo_open };

static void register_fifos(void)
{
	special_register(S_IFIFO, &fifo_fops);
}

AT_STAGE(first, 40, register_fifos);
