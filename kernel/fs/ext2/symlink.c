/* Symlinks: a target of up to 59 bytes is stored in place of the inode's slots, a longer one in a
 * block. */
#include "ext2.h"

#include "lib/assert.h"
#include "lib/string.h"

int ext2_symlink(struct inode *link, const char *target)
{
	u32 len = strlen(target);
	struct extent extent;
	struct buf buf;
	int err;

	if (len >= link->sb->block_size)
		return -ENAMETOOLONG;
	if (len < EXT2_FAST_LINK) {
		memcpy(ext2_info(link)->raw.slot, target, len);
		link->size = len;
		return 0;
	}
	err = ext2_map(link, 0, 1, true, &extent);
	if (err)
		return err;
	err = buf_new(link->sb, extent.sector >> (link->sb->block_bits - 9), &buf);
	if (err)
		return err;
	memcpy(buf.data, target, len);
	buf_put(&buf);
	link->size = len;
	return 0;
}

static int read_slow(struct inode *link, char *text, u32 len)
{
	struct extent extent;
	struct buf buf;
	int err = ext2_map(link, 0, 1, false, &extent);

	if (err)
		return err;
	if (!extent.sector)
		return ext2_error(link->sb, "symlink %u has no block", link->ino);
	err = buf_read(link->sb, extent.sector >> (link->sb->block_bits - 9), &buf);
	if (err)
		return err;
	memcpy(text, buf.data, len);
	buf_put(&buf);
	return 0;
}

int ext2_readlink(struct inode *link, char *text, size_t size)
{
	const struct ext2_inode *raw = &ext2_info(link)->raw;
	u32 attributes = raw->file_acl ? link->sb->block_size / 512 : 0, len = link->size;
	int err = 0;

	ASSERT(len < size); /* ext2_iget refuses longer ones */
	if (link->blocks > attributes)
		err = read_slow(link, text, len);
	else
		memcpy(text, raw->slot, len);
	text[len] = '\0';
	return err;
}
