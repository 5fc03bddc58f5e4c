/* Pipes: a one-way byte stream between two open files. Theory in fs/pipe.c. */
#ifndef FS_PIPE_H
#define FS_PIPE_H

#include "types.h"

struct file;

#define PIPE_MAX_SIZE (1u << 20)
#define PIPE_BUF 4096u /* a write of up to this many bytes is not interleaved with others */

/*
 * Creates a pipe: reading end in f[0], writing end in f[1], count 1 each. flags: O_NONBLOCK, set on
 * both ends. O_CLOEXEC is left to the caller; any other flag is invalid. Returns 0, -EINVAL or
 * -ENOMEM.
 */
int do_pipe(struct file *f[2], u32 flags);

/* The commands of fcntl on the size of a pipe. Returns it, or -EBADF (not a pipe), -EBUSY (the data do not
 * fit), -EPERM (above 1 MiB), -ENOMEM; -EINVAL also for other commands. */
long fcntl_pipe(struct file *f, u32 cmd, u32 arg);

#endif
