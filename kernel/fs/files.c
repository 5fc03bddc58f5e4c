/*
 * Descriptor tables: they map the descriptors of a process to open files. Each task has its own
 * table, which only that task changes, so no lock is needed. A descriptor holds a reference to its
 * open file. fork copies the descriptors and shares the files, including their positions. The
 * close-on-exec bit of a free descriptor is clear. RLIMIT_NOFILE, at most NR_OPEN, limits new
 * descriptors.
 *
 * The highest open descriptor decides how many places are in use: fork, exec and exit look at no
 * others. The first places are in the table itself; files_grow.c allocates an array for more.
 */
#include "fs/files.h"

#include "internal.h"

#include "fs/lock.h"

#include "lib/string.h"
#include "mm/slab.h"

struct files_struct *files_create(void)
{
	struct files_struct *files = kzalloc(sizeof(*files), GFP_KERNEL);

	if (!files)
		return NULL;
	files->fd = files->first;
	files->size = NR_OPEN_FIRST;
	return files;
}

struct files_struct *files_fork(const struct files_struct *from)
{
	struct files_struct *files = kmalloc(sizeof(*files), GFP_KERNEL);

	if (!files)
		return NULL;
	memcpy(files, from, offsetof(struct files_struct, first));
	files->fd = files->first;
	files->size = NR_OPEN_FIRST;
	if (unlikely(files->nr > NR_OPEN_FIRST) && files_grow(files, files->nr)) {
		kfree(files);
		return NULL;
	}
	for (u32 fd = 0; fd < files->nr; fd++) {
		files->fd[fd] = from->fd[fd];
		if (files->fd[fd])
			file_get(files->fd[fd]);
	}
	return files;
}

static void close_at(struct files_struct *files, u32 fd)
{
	struct file *f = files->fd[fd];

	files->fd[fd] = NULL;
	files->cloexec[fd / 32] &= ~(1u << fd % 32);
	while (files->nr && !files->fd[files->nr - 1])
		files->nr--;
	if (unlikely(f->inode->locks))
		locks_release(f->inode, files);
	file_put(f);
}

void files_destroy(struct files_struct *files)
{
	for (u32 fd = 0; fd < files->nr; fd++)
		if (files->fd[fd])
			close_at(files, fd);
	if (files->fd != files->first)
		kfree(files->fd);
	kfree(files);
}

void files_close_on_exec(struct files_struct *files)
{
	for (u32 i = 0; i * 32 < files->nr; i++)
		while (files->cloexec[i])
			close_at(files, i * 32 + __builtin_ctz(files->cloexec[i]));
}

/* Kernel threads have no limit. */
static u32 fd_limit(void)
{
	return MIN(current->limits[RLIMIT_NOFILE].soft, NR_OPEN);
}

/* Puts f into a free place. Returns fd, or -ENOMEM. */
static int fd_put(struct files_struct *files, struct file *f, u32 fd, bool cloexec)
{
	if (unlikely(fd >= files->size) && files_grow(files, fd + 1))
		return -ENOMEM;
	while (files->nr <= fd)
		files->fd[files->nr++] = NULL;
	files->fd[fd] = f;
	if (cloexec)
		fd_set_cloexec(fd, true);
	return fd;
}

int fd_install(struct file *f, u32 from, bool cloexec)
{
	struct files_struct *files = current->files;
	u32 limit = fd_limit(), fd = from;

	if (from && from >= limit)
		return -EINVAL;
	while (fd < files->nr && files->fd[fd])
		fd++;
	return fd < limit ? fd_put(files, f, fd, cloexec) : -EMFILE;
}

int fd_install_at(struct file *f, u32 fd, bool cloexec)
{
	struct files_struct *files = current->files;

	if (fd >= fd_limit())
		return -EBADF;
	if (fd_place(fd))
		close_at(files, fd);
	return fd_put(files, f, fd, cloexec);
}

int fd_close(u32 fd)
{
	if (!fd_place(fd))
		return -EBADF;
	close_at(current->files, fd);
	return 0;
}
