/* The text of a symlink, for a program. */
#include "internal.h"

#include "lib/string.h"
#include "mm/slab.h"

int vfs_readlink(const char *path, char *buf, size_t n)
{
	struct inode *link;
	char *text;
	int err = vfs_lookup(path, false, &link);

	if (err)
		return err;
	text = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!inode_is_link(link))
		err = -EINVAL;
	else
		err = text ? inode_read_link(link, text, PATH_MAX) : -ENOMEM;
	if (!err) {
		err = MIN(strlen(text), n);
		memcpy(buf, text, err);
	}
	kfree(text);
	inode_put(link);
	return err;
}
