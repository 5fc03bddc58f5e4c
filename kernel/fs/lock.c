/*
 * Locks that programs take on files: advisory, they only keep out others who ask.
 *
 * Records (fcntl) belong to a process: ranges of bytes, read or write; a process's own never
 * conflict, a new one replaces what it covers, and all of a file go when the process closes any
 * descriptor of it. flock's belong to an open file, cover all of it, and go with its last
 * descriptor. The two kinds do not see each other (as on Linux).
 *
 * Whoever waits for a record is in a list with the process that holds it, and a chain of such
 * waits that leads back to the one who is about to wait is a deadlock, found before it happens.
 * All wait in one queue and look again whenever any lock goes: these are rare.
 */
#include "internal.h"

#include "fs/lock.h"
#include "mm/slab.h"
#include "proc/task.h"

struct file_lock {
	struct file_lock *next;
	const void *owner; /* files_struct: a record; file: flock's */
	int pid;
	bool record, write;
	u64 start, last; /* bytes, both included */
};

struct waiter {
	struct list_head node;
	const void *owner, *holder;
};

static WAIT_QUEUE(released);
static u32 nr_released; /* so that those who wait notice */
static LIST_HEAD(waiters); /* of struct waiter: for records */

static bool overlaps(const struct file_lock *l, u64 start, u64 last)
{
	return l->start <= last && start <= l->last;
}

/* The first in the file that is in the way, or NULL. */
static struct file_lock *conflict(const struct inode *inode, const struct file_lock *want)
{
	struct file_lock *first = NULL;

	for (struct file_lock *l = inode->locks; l; l = l->next)
		if (l->record == want->record && l->owner != want->owner &&
		    (l->write || want->write) && overlaps(l, want->start, want->last) &&
		    (!first || l->start < first->start))
			first = l;
	return first;
}

static void wake_others(void)
{
	nr_released++;
	wake_up(&released);
}

static void insert(struct inode *inode, struct file_lock *l)
{
	l->next = inode->locks;
	inode->locks = l;
}

static void remove_at(struct file_lock **at)
{
	struct file_lock *l = *at;

	*at = l->next;
	kfree(l);
}

/* Takes [start, last] out of an owner's record; spare is used if it falls into two. True: nothing
 * of it is left. */
static bool cut(struct inode *inode, struct file_lock *l, u64 start, u64 last,
		struct file_lock **spare)
{
	if (l->start < start && l->last > last) {
		**spare = *l;
		(*spare)->start = last + 1;
		l->last = start - 1;
		insert(inode, *spare);
		*spare = NULL;
	} else if (l->start < start) {
		l->last = start - 1;
	} else if (l->last > last) {
		l->start = last + 1;
	} else {
		return true;
	}
	return false;
}

/* Makes room for [start, last] of an owner. */
static void cut_all(struct inode *inode, const void *owner, u64 start, u64 last,
		    struct file_lock **spare)
{
	struct file_lock **at = &inode->locks;

	while (*at) {
		struct file_lock *l = *at;

		if (l->owner == owner && overlaps(l, start, last) &&
		    cut(inode, l, start, last, spare)) {
			at = &inode->locks; /* the start may have moved */
			while (*at != l)
				at = &(*at)->next;
			remove_at(at);
		} else {
			at = &l->next;
		}
	}
}

/* Records of the same kind that touch the new one become part of it. */
static void merge(struct inode *inode, struct file_lock *new)
{
	struct file_lock **at = &inode->locks;

	while (*at) {
		struct file_lock *l = *at;
		u64 from = new->start ? new->start - 1 : 0;

		if (l->owner == new->owner &&
		    l->write == new->write &&overlaps(l, from,
						      new->last == LOCK_LAST ? LOCK_LAST
									     : new->last + 1)) {
			new->start = MIN(new->start, l->start);
			new->last = MAX(new->last, l->last);
			remove_at(at);
			at = &inode->locks; /* it is longer now: look at all again */
		} else {
			at = &l->next;
		}
	}
}

/* Would waiting for holder close a circle? */
static bool deadlock(const void *owner, const void *holder)
{
	struct waiter *w;
	bool found = true;

	while (found && holder != owner) {
		found = false;
		list_for_each_entry(w, &waiters, node)
			if (w->owner == holder) {
				holder = w->holder;
				found = true;
				break;
			}
	}
	return holder == owner;
}

/* Waits until nobody is in the way of want. 0, -EAGAIN, -EDEADLK, -ERESTARTSYS. */
static int wait_free(struct inode *inode, const struct file_lock *want, bool wait)
{
	struct file_lock *l;

	while ((l = conflict(inode, want))) {
		struct waiter w = { .owner = want->owner, .holder = l->owner };
		u32 before = nr_released;
		int err;

		if (!wait)
			return -EAGAIN;
		if (want->record && deadlock(w.owner, w.holder))
			return -EDEADLK;
		if (want->record)
			list_add(&w.node, &waiters);
		err = wait_event_interruptible(&released, nr_released != before);
		if (want->record)
			list_del(&w.node);
		if (err)
			return err;
	}
	return 0;
}

int record_set(struct file *f, const struct record *r, bool wait)
{
	struct inode *inode = f->inode;
	struct file_lock *new = kzalloc(sizeof(*new), GFP_KERNEL);
	struct file_lock *spare = kzalloc(sizeof(*spare), GFP_KERNEL);
	int err = new && spare ? 0 : -ENOLCK;

	if (!err) {
		*new = (struct file_lock){ NULL,     current->files, current->pid, true,
					   r->write, r->start,       r->last };
		if (!r->unlock)
			err = wait_free(inode, new, wait);
	}
	if (!err) {
		if (!r->unlock)
			merge(inode, new);
		cut_all(inode, current->files, new->start, new->last, &spare);
		if (!r->unlock) {
			insert(inode, new);
			new = NULL;
		}
		wake_others();
	}
	kfree(new);
	kfree(spare);
	return err;
}

void record_test(struct file *f, struct record *r)
{
	const struct file_lock want = { .owner = current->files,
					.record = true,
					.write = r->write,
					.start = r->start,
					.last = r->last };
	const struct file_lock *l = conflict(f->inode, &want);

	r->unlock = !l;
	if (!l)
		return;
	r->write = l->write;
	r->start = l->start;
	r->last = l->last;
	r->pid = l->pid;
}

int file_flock(struct file *f, bool unlock, bool write, bool wait)
{
	struct file_lock *new;
	int err;

	locks_release(f->inode, f);
	if (unlock)
		return 0;
	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOLCK;
	new->owner = f;
	new->write = write;
	new->last = LOCK_LAST;
	err = wait_free(f->inode, new, wait);
	if (err)
		kfree(new);
	else
		insert(f->inode, new);
	return err;
}

void locks_release(struct inode *inode, const void *owner)
{
	struct file_lock **at = &inode->locks;

	if (!*at)
		return;
	while (*at)
		if ((*at)->owner == owner)
			remove_at(at);
		else
			at = &(*at)->next;
	wake_others();
}
