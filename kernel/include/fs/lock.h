/* Advisory locks on files. Theory in fs/lock.c. */
#ifndef FS_LOCK_H
#define FS_LOCK_H

#include "types.h"

struct file;
struct inode;

#define LOCK_LAST (~0ull >> 1) /* the last byte a file can have */

/* A range of bytes of a file, both ends included. */
struct record {
	bool unlock, write;
	u64 start, last;
	int pid; /* out: the process that holds it */
};

/* Sets or clears a record lock of current. wait: sleep until the range is free. Returns 0, -EAGAIN
 * if another process holds it, -EDEADLK, -ENOLCK if out of memory, or -ERESTARTSYS. */
int record_set(struct file *f, const struct record *r, bool wait);
/* Sets *r to a conflicting record lock of another process. r->unlock is set if there is none. */
void record_test(struct file *f, struct record *r);
/* flock(2). Returns 0, -EAGAIN, -ENOLCK or -ERESTARTSYS. */
int file_flock(struct file *f, bool unlock, bool write, bool wait);
/* Releases all locks on this file that an owner (a files_struct or a file) holds. */
void locks_release(struct inode *inode, const void *owner);

#endif
