/*
 * The number that names a file to policies (page_id.store). That of a file on a disk follows from
 * the disk's place among all mounts and from the file's inode number, so it is the same in every
 * run: a recorded future names the file by it.
 */
#include "internal.h"
#include "mm/policy.h"

#define FIRST_STORE 256u /* smaller numbers are swap areas; also in tools/plugin/files.c */
#define INO_BITS 22u

u32 cache_new_store(const struct inode *inode)
{
	static u32 last_store = FIRST_STORE;
	const struct super_block *sb = inode->sb;

	if (sb->bdev && !is_device(inode) && sb->nth < FILE_STORES >> INO_BITS &&
	    !(inode->ino >> INO_BITS))
		return FILE_STORES + (sb->nth << INO_BITS) + inode->ino;
	return ++last_store;
}
