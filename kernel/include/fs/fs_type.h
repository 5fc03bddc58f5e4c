/* Kinds of file systems. Each registers itself for mount(2) from its own file. */
#ifndef FS_FS_TYPE_H
#define FS_FS_TYPE_H

#include "fs/vfs.h"

struct fs_type {
	const char *name;
	bool on_device;
	struct super_block *single; /* the only one (proc); NULL: one per mount */
	/* Sets ops, root (with a reference), block_size, block_bits and max_size. Prints the reason
	 * of a failure. Returns 0 or -errno. May sleep. */
	int (*mount)(struct super_block *sb, const char *options);
};

/* FILE_SYSTEM(ext2_type) = { .name = "ext2", ... } registers it. The linker puts all of them side by side. */
#define FILE_SYSTEM(var)                                                                           \
	const struct fs_type var __attribute__((used, no_reorder, section(".filesystems"),         \
						aligned(__alignof__(struct fs_type))))

#endif
