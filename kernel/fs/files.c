/*
 * Descriptor tables: they map the descriptors of a process to open files. Each task has its own
 * table, which only that task changes, so no lock is needed. A descriptor holds a reference to its
 * open file. fork copies the descriptors and shares the files, including their positions. The
 * close-on-exec bit of a free descriptor is clear. RLIMIT_NOFILE, at most NR_OPEN, limits new
 * descriptors.
 */
#include "internal.h"

#include "fs/lock.h"

#include "lib/string.h"
#include "mm/slab.h"
#include "sched/current.h"

struct files_struct *files_create(void)
{
	return kzalloc(sizeof(struct files_struct), GFP_KERNEL);
}

struct files_struct *files_fork(struct files_struct *from)
{
	struct files_struct *files = kmalloc(sizeof(*files), GFP_KERNEL);

	if (!files)
		return NULL;
	memcpy(files, from, sizeof(*files));
	for (u32 fd = 0; fd < NR_OPEN; fd++)
		if (files->fd[fd])
			file_get(files->fd[fd]);
	return files;
}

static void close_at(struct files_struct *files, u32 fd)
{
	struct file *f = files->fd[fd];

	files->fd[fd] = NULL;
	files->cloexec &= ~(1ull << fd);
	if (unlikely(f->inode->locks))
		locks_release(f->inode, files);
	file_put(f);
}

void files_destroy(struct files_struct *files)
{
	for (u32 fd = 0; fd < NR_OPEN; fd++)
		if (files->fd[fd])
			close_at(files, fd);
	kfree(files);
}

void files_close_on_exec(struct files_struct *files)
{
	for (u32 fd = 0; files->cloexec && fd < NR_OPEN; fd++)
		if (files->cloexec >> fd & 1)
			close_at(files, fd);
}

struct file *fd_place(u32 fd)
{
	return fd < NR_OPEN ? current->files->fd[fd] : NULL;
}

struct file *fd_file(u32 fd)
{
	struct file *f = fd_place(fd);

	return f && likely(!(f->flags & O_PATH)) ? f : NULL;
}

/* Kernel threads have no limit. */
static u32 fd_limit(void)
{
	return MIN(current->limits[RLIMIT_NOFILE].soft, (u32)NR_OPEN);
}

int fd_install(struct file *f, u32 from, bool cloexec)
{
	struct files_struct *files = current->files;
	u32 limit = fd_limit();

	if (from && from >= limit)
		return -EINVAL;
	for (u32 fd = from; fd < limit; fd++) {
		if (files->fd[fd])
			continue;
		files->fd[fd] = f;
		if (cloexec)
			fd_set_cloexec(fd, true);
		return fd;
	}
	return -EMFILE;
}

int fd_install_at(struct file *f, u32 fd, bool cloexec)
{
	struct files_struct *files = current->files;

	if (fd >= fd_limit())
		return -EBADF;
	if (files->fd[fd])
		close_at(files, fd);
	files->fd[fd] = f;
	if (cloexec)
		fd_set_cloexec(fd, true);
	return fd;
}

int fd_close(u32 fd)
{
	if (!fd_place(fd))
		return -EBADF;
	close_at(current->files, fd);
	return 0;
}

bool fd_cloexec(u32 fd)
{
	return fd < NR_OPEN && current->files->cloexec >> fd & 1;
}

void fd_set_cloexec(u32 fd, bool on)
{
	u64 bit = 1ull << fd;

	if (on)
		current->files->cloexec |= bit;
	else
		current->files->cloexec &= ~bit;
}
