/*
 * The program `ext2`: the kernel's ext2 over an image file, to be judged by e2fsprogs. main.c says
 * what a script may ask.
 */
#ifndef EXT2_HOST_H
#define EXT2_HOST_H

#include "../../../kernel/fs/ext2/ext2.h"
#include "../../../kernel/fs/internal.h"
#include "drivers/block.h"

/* disk.c: the medium, what a drive with a cache of its own has not yet brought there, and blocks of
 * metadata in memory. */
extern struct block_device disk;
void disk_open(const u8 *bytes, u32 size); /* a copy of them is the medium */
const u8 *disk_medium(void); /* with all that was written, flushed or not */
void disk_close(void);
/* n writes from now the power is cut; which of those since the last flush are on the medium is
 * random; on_cut is called. */
void disk_cut_after(u32 n, u32 seed, void (*on_cut)(void));
/* From now on one read of metadata in so many fails; 0: none. */
void disk_fail(u32 one_in, u32 seed);
/* The nth read of metadata or flush from now on fails, and all after it; 0: none. */
void disk_break_after(u32 n);
/* From now on all that is dirty is written before each read of metadata. */
void disk_busy(void);
void disk_read(u32 sector, void *to, u32 bytes);
void disk_write(u32 sector, const void *from, u32 bytes);
/* Writes n dirty blocks of metadata, whichever. */
void disk_flush_some(u32 n, u32 seed);
u32 disk_nr_held(void); /* blocks that somebody has not given back */
u32 host_random(u32 *state);

/* inodes.c: inodes in memory, and what else ext2 asks of a kernel. */
extern struct super_block host_sb;
extern bool host_quiet; /* printk says nothing */
int host_mount(bool read_only);
void host_drop_unused(void); /* inodes that nobody uses leave memory */
int host_sync(void);
int host_fsync(struct inode *inode);
void host_umount(void);
int host_truncate(struct inode *inode, u64 size);

/* names.c: paths. */
/* The inode with a reference; 0 or -errno. */
int host_walk(const char *path, struct inode **inode);
/* The directory, with a reference, and the last name, which points into path. */
int host_walk_parent(const char *path, struct inode **dir, struct path_name *last);
int host_create(const char *path, u32 mode, u32 rdev, const char *target);
int host_link(const char *from, const char *to);
int host_remove(const char *path, bool is_dir);
int host_rename(const char *from, const char *to);

/* fuzz.c: damages copies of the image, uses them. Returns when all were survived. */
void host_fuzz(const u8 *bytes, u32 size, u32 seed, u32 count);

#endif
