/* Descriptor tables. The theory is in fs/files.c. */
#ifndef FS_FILES_H
#define FS_FILES_H

#include "fs/vfs.h"
#include "sched/current.h"
#include "types.h"

#define NR_OPEN 1024u /* descriptors per process, at most */
#define NR_OPEN_FIRST 64u /* those for which a new table has room */

struct files_struct {
	struct file **fd; /* first, or an array of its own */
	u32 nr; /* the highest open descriptor, plus 1 */
	u32 size; /* number of places */
	u32 cloexec[NR_OPEN / 32]; /* bit per descriptor */
	struct file *first[NR_OPEN_FIRST];
};

struct files_struct *files_create(void); /* NULL: no memory */
struct files_struct *files_fork(const struct files_struct *from); /* NULL: no memory */
void files_destroy(struct files_struct *files);
void files_close_on_exec(struct files_struct *files);
/* files_grow.c: makes room for descriptors 0 to nr - 1. Returns 0 or -ENOMEM. */
int files_grow(struct files_struct *files, u32 nr);

/* Returns the open file of a descriptor of current, or NULL. Takes no reference: only current itself
 * can close it, since no two tasks share a table. */
static inline struct file *fd_place(u32 fd)
{
	const struct files_struct *files = current->files;

	return fd < files->nr ? files->fd[fd] : NULL;
}

/* Like fd_place, but returns NULL for an O_PATH file. */
static inline struct file *fd_file(u32 fd)
{
	struct file *f = fd_place(fd);

	return f && likely(!(f->flags & O_PATH)) ? f : NULL;
}

/* Installs f at the lowest free descriptor of current that is at least from. Takes over the caller's
 * reference, except on failure. Returns the descriptor, -EMFILE, -ENOMEM, or -EINVAL if from is too
 * large. */
int fd_install(struct file *f, u32 from, bool cloexec);
/* Installs f at exactly fd and closes the file that was there. Returns fd, -EBADF or -ENOMEM. */
int fd_install_at(struct file *f, u32 fd, bool cloexec);
int fd_close(u32 fd); /* 0 or -EBADF */

/* The close-on-exec bit of an open descriptor of current. */
static inline bool fd_cloexec(u32 fd)
{
	return current->files->cloexec[fd / 32] >> fd % 32 & 1;
}

static inline void fd_set_cloexec(u32 fd, bool on)
{
	u32 bit = 1u << fd % 32, *word = &current->files->cloexec[fd / 32];

	*word = on ? *word | bit : *word & ~bit;
}

#endif
