/* Inodes in memory, the data of files without a page cache, and other functions that ext2 needs from a kernel. */
#include "host.h"

#include "arch/time.h"
#include "fs/fs_type.h"
#include "fs/gate.h"
#include "lib/assert.h"
#include "lib/list.h"
#include "lib/printf.h"
#include "mm/slab.h"
#include "sched/sched.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct super_block host_sb;
bool host_quiet;
static LIST_HEAD(inodes);

/* Functions of the kernel. */

void panic(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	abort();
}

int printk(const char *fmt, ...)
{
	va_list args;
	int n;

	if (host_quiet)
		return 0;
	va_start(args, fmt);
	n = vfprintf(stderr, fmt, args);
	va_end(args);
	return n;
}

void *kmalloc(size_t size, gfp_t gfp)
{
	(void)gfp;
	second_may_begin(false);
	return size > 128 << 10 ? NULL : malloc(size);
}

void *kzalloc(size_t size, gfp_t gfp)
{
	(void)gfp;
	return size > 128 << 10 ? NULL : calloc(1, size);
}

void kfree(const void *p)
{
	free((void *)p);
}

void *vmalloc(size_t bytes, const char *who)
{
	(void)who;
	return malloc(bytes);
}

void vfree(const void *start)
{
	free((void *)start);
}

u64 clock_realtime_ns(void)
{
	static u64 now = 1795000000ull * 1000000000;

	return now += 1000000;
}

/* There is one task: a lock that is held would never be released. */

struct task_struct *current_task = (struct task_struct *)&host_sb;

void mutex_lock_slow(struct mutex *m)
{
	panic("a lock at %p is taken twice\n", (void *)m);
}

void mutex_unlock_slow(struct mutex *m)
{
	panic("waiting for a lock that is held, at %p\n", (void *)m);
}

void cond_resched(void)
{
}

/* The gate. */

static u32 nr_changes;
static bool closed;

bool gate_is_mine(void)
{
	return nr_changes || closed;
}

u32 gate_nr_inside(void)
{
	return nr_changes != 0;
}

void gate_enter(void)
{
	nr_changes++;
}

void gate_leave(void)
{
	ASSERT(nr_changes);
	nr_changes--;
}

void gate_close(void)
{
	ASSERT(!gate_is_mine());
	closed = true;
}

void gate_open(void)
{
	closed = false;
}

/* Inodes. */

static void mark_clean(struct inode *inode)
{
	if (inode->state & INODE_DIRTY)
		list_del(&inode->dirty);
	inode->state &= ~(u32)INODE_DIRTY;
}

static void evict_stored(struct inode *inode)
{
	if (!inode->nlink)
		log_begin(&host_sb);
	host_sb.ops->evict_inode(inode);
	if (!inode->nlink)
		log_end(&host_sb, 0);
}

static void evict(struct inode *inode)
{
	list_del(&inode->on_sb);
	mark_clean(inode);
	inode->state |= INODE_GOING;
	if (!(inode->state & INODE_BAD))
		evict_stored(inode);
	ASSERT(!inode->private);
	free(inode);
}

struct inode *inode_get_cached(struct super_block *sb, u32 ino, bool *is_new)
{
	struct inode *inode;

	*is_new = false;
	list_for_each_entry(inode, &inodes, on_sb)
		if (inode->ino == ino) {
			ASSERT(!(inode->state & (INODE_NEW | INODE_BAD)));
			inode->count++;
			return inode;
		}
	inode = calloc(1, sizeof(*inode));
	*inode = (struct inode){
		.ino = ino, .sb = sb, .count = 1, .state = INODE_NEW, .block_bits = sb->block_bits
	};
	mutex_init(&inode->lock);
	list_add_tail(&inode->on_sb, &inodes);
	*is_new = true;
	return inode;
}

void inode_ready(struct inode *inode)
{
	ASSERT(inode->state & INODE_NEW);
	inode->state &= ~(u32)INODE_NEW;
}

void inode_bad(struct inode *inode)
{
	inode->state = INODE_BAD;
	inode_put(inode);
}

void inode_mark_dirty(struct inode *inode)
{
	if (inode->state & (INODE_NEW | INODE_BAD | INODE_DIRTY | INODE_GOING))
		return;
	inode->state |= INODE_DIRTY;
	list_add_tail(&inode->dirty, &host_sb.dirty);
}

void inode_set_special(struct inode *inode)
{
	(void)inode;
}

void inode_free(struct inode *inode)
{
	ASSERT(!inode->count);
	if (!inode->nlink || inode->state & INODE_BAD)
		evict(inode);
}

static int write_back(struct inode *inode)
{
	int err;

	if (!(inode->state & INODE_DIRTY))
		return 0;
	mark_clean(inode);
	err = host_sb.ops->write_inode(inode);
	if (err)
		inode_mark_dirty(inode);
	return err;
}

int inode_write_first(struct super_block *sb)
{
	return write_back(list_first_entry(&sb->dirty, struct inode, dirty));
}

void host_drop_unused(void)
{
	struct inode *inode, *next;

	list_for_each_entry_safe(inode, next, &inodes, on_sb) {
		if (inode->count)
			continue;
		write_back(inode);
		evict(inode);
	}
}

/* The data of files go directly to the disk. */

static int with_block(struct inode *inode, u64 pos, bool create, u8 *block, u32 *sector)
{
	struct extent extent;
	int err = ext2_map(inode, pos >> inode->block_bits, 1, create, &extent);

	if (err)
		return err;
	*sector = extent.sector;
	if (extent.sector && !extent.fresh)
		disk_read(extent.sector, block, 1u << inode->block_bits);
	else
		memset(block, 0, 1u << inode->block_bits);
	return 0;
}

static u32 in_block(const struct inode *inode, u64 pos, size_t n)
{
	u32 size = 1u << inode->block_bits, rest = size - (pos & (size - 1));

	return MIN(rest, n);
}

long cache_file_read(struct file *f, void *user, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	u8 block[4096];
	u32 sector, len;
	int err;

	if (*pos >= inode->size)
		return 0;
	n = MIN(n, inode->size - *pos);
	for (size_t done = 0; done < n; done += len, *pos += len) {
		len = in_block(inode, *pos, n - done);
		err = with_block(inode, *pos, false, block, &sector);
		if (err)
			return err;
		memcpy((u8 *)user + done, block + (*pos & ((1u << inode->block_bits) - 1)), len);
	}
	return n;
}

/* Allocates the blocks of a write, many at once, like a cache with late writeback. Returns the number of
 * bytes that have blocks now, or -errno if none has. */
static long make_blocks(struct inode *inode, u64 pos, size_t n)
{
	static const u8 zeros[4096];
	u32 size = 1u << inode->block_bits, first = pos >> inode->block_bits;
	u32 block = first, end = n ? ((pos + n - 1) >> inode->block_bits) + 1 : first;
	struct extent extent;

	for (; block < end; block += extent.blocks) {
		int err = ext2_map(inode, block, end - block, true, &extent);

		if (err && block == first)
			return err;
		if (err)
			return ((u64)block << inode->block_bits) - pos;
		ASSERT(extent.blocks && extent.blocks <= end - block);
		for (u32 i = 0; extent.fresh && i < extent.blocks; i++)
			disk_write(extent.sector + i * (size / SECTOR_SIZE), zeros, size);
	}
	return n;
}

static long write_once(struct file *f, const void *user, size_t n, u64 *pos)
{
	struct inode *inode = f->inode;
	u8 block[4096];
	u32 sector, len;
	long room = *pos + n > inode->sb->max_size ? -EFBIG : make_blocks(inode, *pos, n), done = 0;
	int err = MIN(room, 0);

	for (; done < room; done += len, *pos += len) {
		len = in_block(inode, *pos, room - done);
		err = with_block(inode, *pos, true, block, &sector);
		if (err)
			break;
		memcpy(block + (*pos & ((1u << inode->block_bits) - 1)), (const u8 *)user + done,
		       len);
		disk_write(sector, block, 1u << inode->block_bits);
		inode->size = MAX(inode->size, *pos + len);
	}
	if (err)
		inode->ops->truncate(inode, inode->size);
	inode->mtime_ns = inode->ctime_ns = clock_realtime_ns();
	inode_mark_dirty(inode);
	return done ? done : err;
}

/* With a log, a call for each block, which is tried again if a commit has freed room. */
static long write_logged(struct file *f, const char *user, size_t n, u64 *pos)
{
	size_t done = 0;
	long result;

	do {
		u32 len = in_block(f->inode, *pos, n - done);

		do {
			log_begin(&host_sb);
			result = write_once(f, user + done, len, pos);
		} while (log_end(&host_sb, MIN(result, 0l)));
		done += MAX(result, 0l);
	} while (result > 0 && done < n);
	return done ? (long)done : result;
}

long cache_file_write(struct file *f, const void *user, size_t n, u64 *pos)
{
	if (f->inode->state & INODE_SWAP)
		return -ETXTBSY;
	return host_sb.log ? write_logged(f, user, n, pos) : write_once(f, user, n, pos);
}

int host_truncate(struct inode *inode, u64 size)
{
	u32 tail = size & ((1u << inode->block_bits) - 1), sector;
	u8 block[4096];
	int err = 0;

	if (ext2_kind(inode) != S_IFREG)
		return -EINVAL;
	if (size > inode->sb->max_size)
		return -EFBIG;
	if (inode->state & INODE_SWAP)
		return -ETXTBSY;
	if (size < inode->size && tail) {
		err = with_block(inode, size, false, block, &sector);
		memset(block + tail, 0, (1u << inode->block_bits) - tail);
		if (!err && sector)
			disk_write(sector, block, 1u << inode->block_bits);
	}
	if (err)
		return err;
	log_begin(&host_sb);
	inode->size = MIN(size, inode->size);
	err = inode->ops->truncate(inode, size);
	if (!err)
		inode->size = size;
	inode_mark_dirty(inode);
	log_end(&host_sb, err);
	return err;
}

/* The whole file system. */

extern const struct fs_type ext2_type;

int host_mount(bool read_only, const char *options)
{
	host_sb = (struct super_block){ .bdev = &disk, .read_only = read_only };
	INIT_LIST_HEAD(&host_sb.dirty);
	return ext2_type.mount(&host_sb, options);
}

int host_sync(void)
{
	struct inode *inode;
	int err = 0;

	list_for_each_entry(inode, &inodes, on_sb)
		err = err ? err : write_back(inode);
	if (!err)
		err = host_sb.ops->sync(&host_sb);
	return err ? err : host_sb.ops->flush(&host_sb);
}

int host_fsync(struct inode *inode)
{
	int err = write_back(inode);

	return err ? err : host_sb.ops->flush(&host_sb);
}

void host_umount(void)
{
	host_sync();
	inode_put(host_sb.root);
	host_drop_unused();
	ASSERT(list_empty(&inodes));
	host_sb.ops->put_super(&host_sb);
	buf_sync_all(&disk);
	block_flush(&disk);
	ASSERT(!disk_nr_held());
}
