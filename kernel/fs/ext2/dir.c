/*
 * Directories. Each block of a directory's file is a chain of entries. Each entry states its size,
 * and the last one extends to the end of the block, so a block can be changed without reading the
 * others.
 *
 *	| inode, size, len, type, name | inode, size, ... |        ...        |
 *
 * A new name goes to the first entry with room behind its own name, which is split in two, or to an
 * unused entry; if there is none, to a new block. A removed entry is merged with the one before it
 * or, if it is the first of its sector, marked as unused.
 *
 * At a power cut, a sector is written entirely or not at all, but only some sectors of a block may
 * be. A partly written chain is broken, and e2fsck treats the rest of the block as lost, with names
 * that had been safe for years. So each change stays within one sector: a name goes only where it
 * and the head of the entry before it are in the same sector, and a new block begins with one
 * unused entry per sector, as in all directories of the Fast File System (McKusick and others,
 * 1984). In blocks written by other kernels some room stays unused. Entries never move, so a cursor
 * of readdir, the offset, stays valid. Since an entry may have grown over it, it is looked up from
 * the block's beginning, unless nothing has changed since it was returned.
 *
 * Entries come from the disk: each is checked before it is used, so that no chain leads out of its
 * block or into a loop, and its name is checked before it is shown. An invalid name is never found,
 * since no program can ask for it.
 */
#include "ext2.h"

#include "drivers/block.h"
#include "lib/string.h"
#include "sched/sched.h"

#define MAX_DIR_SIZE 0x7fffffffu

static bool has_types(const struct super_block *sb)
{
	return ext2_fs(sb)->es.rev && ext2_fs(sb)->es.incompat & EXT2_INCOMPAT_FILETYPE;
}

/* The file types of the VFS in the order of enum ext2_type. */
static const u32 kinds[EXT2_NR_FT] = { 0,       S_IFREG, S_IFDIR,  S_IFCHR,
				       S_IFBLK, S_IFIFO, S_IFSOCK, S_IFLNK };

static u8 type_of(const struct inode *inode)
{
	u8 type = EXT2_NR_FT - 1;

	while (has_types(inode->sb) && type && kinds[type] != ext2_kind(inode))
		type--;
	return has_types(inode->sb) ? type : EXT2_FT_UNKNOWN;
}

static u32 nr_blocks(const struct inode *dir)
{
	return dir->size >> dir->sb->block_bits;
}

/* Reads a block of the directory. Returns 0, -EIO (also for a hole) or -ENOMEM. */
static int block_read(struct inode *dir, u32 n, struct buf *buf)
{
	struct extent extent;
	int err;

	cond_resched(); /* a directory may have a million blocks, all in memory */
	err = ext2_map(dir, n, 1, false, &extent);
	if (err)
		return err;
	if (!extent.sector)
		return ext2_error(dir->sb, "directory %u has a hole", dir->ino);
	return buf_read(dir->sb, extent.sector >> (dir->sb->block_bits - 9), buf);
}

static bool name_ok(const struct ext2_entry *entry)
{
	for (u32 i = 0; i < entry->len; i++)
		if (entry->name[i] == '/' || !entry->name[i])
			return false;
	return entry->len;
}

static int wrong_entry(struct inode *dir, const struct buf *buf, u32 at)
{
	return ext2_error(dir->sb, "directory %u: a wrong entry at %u of block %u", dir->ino, at,
			  buf->block);
}

/* Returns the entry at an offset in the block, or NULL, with a message, if it is invalid. */
static struct ext2_entry *entry_at(struct inode *dir, const struct buf *buf, u32 at)
{
	struct super_block *sb = dir->sb;
	struct ext2_entry *entry = (void *)(buf->data + at);

	if (at + EXT2_ENTRY_SIZE(1) <= sb->block_size && entry->size >= EXT2_ENTRY_SIZE(1) &&
	    entry->size % 4 == 0 && entry->size <= sb->block_size - at &&
	    entry->size >= EXT2_ENTRY_SIZE(entry->len) && (!entry->type || has_types(sb)))
		return entry;
	wrong_entry(dir, buf, at);
	return NULL;
}

static bool entry_is(const struct ext2_entry *entry, const struct path_name *name)
{
	return entry->inode && entry->len == name->len && !memcmp(entry->name, name->s, name->len);
}

static bool is_dots(const struct ext2_entry *entry)
{
	return entry->name[0] == '.' &&
	       (entry->len == 1 || (entry->len == 2 && entry->name[1] == '.'));
}

/* Looking up. */

/* Searches one block. Returns 0, -ENOENT or -EIO. */
static int find_in_block(struct inode *dir, const struct path_name *name, struct ext2_slot *slot)
{
	struct ext2_entry *prev = NULL, *entry;

	for (u32 at = 0; at < dir->sb->block_size; at += entry->size) {
		entry = entry_at(dir, &slot->buf, at);
		if (!entry)
			return -EIO;
		if (entry_is(entry, name)) {
			slot->entry = entry;
			slot->prev = prev;
			return 0;
		}
		prev = entry;
	}
	return -ENOENT;
}

int ext2_find(struct inode *dir, const struct path_name *name, struct ext2_slot *slot)
{
	for (u32 n = 0; n < nr_blocks(dir); n++) {
		int err = block_read(dir, n, &slot->buf);

		if (err)
			return err;
		err = find_in_block(dir, name, slot);
		if (!err)
			return 0;
		buf_put(&slot->buf);
		if (err != -ENOENT)
			return err;
	}
	return -ENOENT;
}

int ext2_dir_empty(struct inode *dir)
{
	for (u32 n = 0; n < nr_blocks(dir); n++) {
		struct ext2_entry *entry;
		struct buf buf;
		int err = block_read(dir, n, &buf);

		for (u32 at = 0; !err && at < dir->sb->block_size; at += entry->size) {
			entry = entry_at(dir, &buf, at);
			if (!entry) {
				buf_put(&buf);
				return -EIO;
			}
			if (!entry->inode || is_dots(entry))
				continue;
			buf_put(&buf);
			return -ENOTEMPTY;
		}
		if (err)
			return err;
		buf_put(&buf);
	}
	return 0;
}

static void fill_entry(struct inode *dir, const struct ext2_entry *entry, struct dir_entry *e)
{
	e->ino = entry->inode;
	e->mode = has_types(dir->sb) && entry->type < EXT2_NR_FT ? kinds[entry->type] : 0;
	e->len = entry->len;
	memcpy(e->name, entry->name, entry->len);
	e->name[entry->len] = '\0';
}

/* Finds the first used entry at or after `from` in a block, starting the walk at `at`. Returns 0,
 * -ENOENT if the block has none, or -EIO. */
static int iterate_block(struct inode *dir, const struct buf *buf, u32 at, u32 from,
			 struct dir_entry *e)
{
	struct ext2_entry *entry;

	for (; at < dir->sb->block_size; at += entry->size) {
		entry = entry_at(dir, buf, at);
		if (!entry)
			return -EIO;
		if (at < from || !entry->inode || is_dots(entry))
			continue;
		if (!name_ok(entry))
			return wrong_entry(dir, buf, at);
		fill_entry(dir, entry, e);
		e->next = at + entry->size;
		return 0;
	}
	return -ENOENT;
}

int ext2_iterate(struct inode *dir, u64 cursor, struct dir_entry *e)
{
	struct ext2_info *info = ext2_info(dir);
	u32 bits = dir->sb->block_bits, from = cursor & ((1u << bits) - 1);
	u32 at = cursor == info->cursor ? from : 0;

	for (u64 n = cursor >> bits; n < nr_blocks(dir); n++, at = from = 0) {
		struct buf buf;
		int err = block_read(dir, n, &buf);

		if (err)
			return err;
		err = iterate_block(dir, &buf, at, from, e);
		buf_put(&buf);
		if (!err) {
			e->next += n << bits;
			info->cursor = e->next;
			return 0;
		}
		if (err != -ENOENT)
			return err;
	}
	return -ENOENT;
}

/* Changing. */

/* Marks a changed block dirty. Clears the flag of the directory's hash tree: it is invalid now. */
static void changed(struct inode *dir, struct ext2_slot *slot)
{
	buf_dirty(&slot->buf);
	ext2_info(dir)->raw.flags &= ~EXT2_INDEX;
	ext2_info(dir)->cursor = 0;
	inode_mark_dirty(dir);
}

static void fill_name(struct ext2_slot *slot, const struct path_name *name, struct inode *inode)
{
	slot->entry->inode = inode->ino;
	slot->entry->type = type_of(inode);
	slot->entry->len = name->len;
	memcpy(slot->entry->name, name->s, name->len);
}

static u32 sector_in(const struct buf *buf, const void *at)
{
	return ((const char *)at - buf->data) / SECTOR_SIZE;
}

/* Returns the disk's sector of a position in a block. */
static u32 sector_of(const struct buf *buf, const void *at)
{
	return buf->block * (buf->size / SECTOR_SIZE) + sector_in(buf, at);
}

/* Creates an unused entry with room for the name. Returns 0, -ENOENT if the block has no room, or
 * -EIO. */
static int room_in_block(struct inode *dir, u32 len, struct ext2_slot *slot)
{
	struct ext2_entry *entry = NULL;

	for (u32 at = 0; at < dir->sb->block_size; at += entry->size) {
		u32 used, left;
		const char *end;

		slot->prev = entry;
		entry = entry_at(dir, &slot->buf, at);
		if (!entry)
			return -EIO;
		used = entry->inode ? EXT2_ENTRY_SIZE(entry->len) : 0;
		left = entry->size - used;
		end = (char *)entry + used + EXT2_ENTRY_SIZE(len);
		if (left < EXT2_ENTRY_SIZE(len) ||
		    sector_in(&slot->buf, entry) != sector_in(&slot->buf, end - 1))
			continue;
		slot->entry = (void *)((char *)entry + used);
		if (used) {
			entry->size = used;
			slot->prev = entry;
		}
		slot->entry->size = left;
		return 0;
	}
	return -ENOENT;
}

/* Appends a block of unused entries and updates the directory's size. Returns 0, -ENOSPC, -EIO or
 * -ENOMEM. */
static int append_block(struct inode *dir, struct ext2_slot *slot)
{
	u32 size = dir->sb->block_size;
	struct extent extent;
	int err;

	if (dir->size + size > MAX_DIR_SIZE)
		return -ENOSPC;
	err = ext2_map(dir, nr_blocks(dir), 1, true, &extent);
	if (err)
		return err;
	err = buf_new(dir->sb, extent.sector >> (dir->sb->block_bits - 9), &slot->buf);
	if (err)
		goto cut;
	slot->entry = (void *)slot->buf.data;
	slot->prev = NULL;
	for (u32 at = 0; at < size; at += SECTOR_SIZE)
		((struct ext2_entry *)(slot->buf.data + at))->size = SECTOR_SIZE;
	dir->size += size;
	err = ext2_write_inode(dir);
	if (!err)
		return 0;
	buf_put(&slot->buf);
	dir->size -= size;
cut:
	ext2_cut(dir, dir->size);
	return err;
}

int ext2_add(struct inode *dir, const struct path_name *name, struct inode *inode,
	     struct ext2_slot *slot)
{
	int err = -ENOENT;

	for (u32 n = 0; err == -ENOENT && n < nr_blocks(dir); n++) {
		err = block_read(dir, n, &slot->buf);
		if (err)
			return err;
		err = room_in_block(dir, name->len, slot);
		if (err)
			buf_put(&slot->buf);
	}
	slot->sector = err ? 0 : sector_of(&slot->buf, slot->entry);
	if (err == -ENOENT)
		err = append_block(dir, slot);
	if (err)
		return err;
	fill_name(slot, name, inode);
	changed(dir, slot);
	return 0;
}

/* Is a removed entry merged with the one before it? */
static bool joins(const struct ext2_slot *slot)
{
	return slot->prev && ((char *)slot->entry - slot->buf.data) % SECTOR_SIZE;
}

u32 ext2_removal_sector(const struct ext2_slot *slot)
{
	return sector_of(&slot->buf, joins(slot) ? &slot->prev->size : (void *)slot->entry);
}

void ext2_remove(struct inode *dir, struct ext2_slot *slot)
{
	if (joins(slot))
		slot->prev->size += slot->entry->size;
	else
		slot->entry->inode = 0;
	changed(dir, slot);
}

void ext2_point(struct inode *dir, struct ext2_slot *slot, struct inode *inode)
{
	slot->entry->inode = inode->ino;
	slot->entry->type = type_of(inode);
	changed(dir, slot);
}

int ext2_dir_init(struct inode *dir, struct inode *parent)
{
	const struct path_name dot = { .s = ".", .len = 1 }, dots = { .s = "..", .len = 2 };
	struct ext2_slot slot;
	int err = append_block(dir, &slot);

	if (err)
		return err;
	fill_name(&slot, &dot, dir);
	slot.entry->size = EXT2_ENTRY_SIZE(1);
	slot.entry = (void *)(slot.buf.data + EXT2_ENTRY_SIZE(1));
	slot.entry->size = SECTOR_SIZE - EXT2_ENTRY_SIZE(1);
	fill_name(&slot, &dots, parent);
	buf_dirty(&slot.buf); /* append_block has slept: the block may have been written */
	buf_put(&slot.buf);
	return 0;
}
