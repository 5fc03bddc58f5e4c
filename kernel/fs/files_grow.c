/*
 * Larger descriptor tables. The sizes are powers of two, as on Linux, where select looks at no
 * descriptor beyond the size of the table.
 */
#include "fs/files.h"

#include "errno.h"
#include "lib/string.h"
#include "mm/slab.h"

#define NR_OPEN_LARGE 256u /* the size after NR_OPEN_FIRST */

int files_grow(struct files_struct *files, u32 nr)
{
	u32 size = NR_OPEN_LARGE;
	struct file **fd;

	while (size < nr)
		size *= 2;
	fd = kmalloc(size * sizeof(struct file *), GFP_KERNEL);
	if (!fd)
		return -ENOMEM;
	memcpy(fd, files->fd, files->size * sizeof(struct file *));
	if (files->fd != files->first)
		kfree(files->fd);
	files->fd = fd;
	files->size = size;
	return 0;
}
