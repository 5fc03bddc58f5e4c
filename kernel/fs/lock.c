/*
 * Locks that programs take on files. They are advisory: they exclude only programs that also use
 * them.
 *
 * Record locks (fcntl) belong to a process: ranges of bytes, for reading or writing. A process's
 * own records never conflict, a new one replaces what it covers, and closing any descriptor of the
 * file releases all of the process's records of it. flock's locks belong to an open file, cover all
 * of it, and are released with its last descriptor. The two kinds ignore each other (as on Linux).
 *
 * A process that waits for a record is in a list with the process that holds it. If a chain of such
 * waits leads back to the process about to wait, that would be a deadlock, and the call fails
 * instead. All waiters share one queue and check again at each release of any lock: these are rare.
 */
#include "internal.h"

#include "fs/lock.h"
#include "mm/slab.h"
#include "sched/current.h"

struct file_lock {
	struct file_lock *next;
	const void *owner; /* record: files_struct; flock: file */
	int pid;
	bool record, write;
	u64 start, last; /* bytes, both included */
};

struct waiter {
	struct list_head node;
	const void *owner, *holder;
};

static WAIT_QUEUE(released);
static u32 nr_released; /* counts releases, for the waiters */
static LIST_HEAD(waiters); /* of struct waiter: waiting for records */

static bool overlaps(const struct file_lock *l, u64 start, u64 last)
{
	return l->start <= last && start <= l->last;
}

/* Returns the first conflicting lock of the file, or NULL. */
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

/* Removes [start, last] from an owner's record. spare is used if the record is split in two.
 * Returns true if nothing of it is left. */
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

/* Removes [start, last] from all of an owner's records. */
static void cut_all(struct inode *inode, const void *owner, u64 start, u64 last,
		    struct file_lock **spare)
{
	struct file_lock **at = &inode->locks;

	while (*at) {
		struct file_lock *l = *at;

		if (l->owner == owner && overlaps(l, start, last) &&
		    cut(inode, l, start, last, spare)) {
			at = &inode->locks; /* the head of the list may have changed */
			while (*at != l)
				at = &(*at)->next;
			remove_at(at);
		} else {
			at = &l->next;
		}
	}
}

/* Merges adjacent records of the same kind into the new one. */
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
			at = &inode->locks; /* it has grown: check all again */
		} else {
			at = &l->next;
		}
	}
}

/* Would waiting for holder close a cycle? */
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

/* Waits until no lock conflicts with want. Returns 0, -EAGAIN, -EDEADLK or -ERESTARTSYS. */
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
