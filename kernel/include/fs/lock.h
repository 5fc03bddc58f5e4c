/* Advisory locks on files. Theory in fs/lock.c. */
#ifndef FS_LOCK_H
#define FS_LOCK_H

#include "types.h"

struct file;
struct inode;

#define LOCK_LAST (~0ull >> 1) /* the last byte that a file can have */

/* A range of bytes of a file, both ends included. */
struct record {
	bool unlock, write;
	u64 start, last;
	int pid; /* out: who holds it */
};

/* Sets or clears a record of current. wait: until it is free. 0, -EAGAIN (held by another),
 * -EDEADLK, -ENOLCK (no memory), -ERESTARTSYS. */
int record_set(struct file *f, const struct record *r, bool wait);
/* *r becomes a record of another process that is in its way; unlock: there is none. */
void record_test(struct file *f, struct record *r);
/* flock: 0, -EAGAIN, -ENOLCK, -ERESTARTSYS. */
int file_flock(struct file *f, bool unlock, bool write, bool wait);
/* All locks of an owner (a files_struct or a file) on this file. */
void locks_release(struct inode *inode, const void *owner);

#endif
