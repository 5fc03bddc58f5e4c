/*
 * The program `ext2`: the kernel's ext2 on an image file, to be checked by e2fsprogs. main.c describes
 * the script's commands.
 */
#ifndef EXT2_HOST_H
#define EXT2_HOST_H

#include "../../../kernel/fs/ext2/ext2.h"
#include "../../../kernel/fs/internal.h"
#include "drivers/block.h"

/* disk.c: the medium, the drive's cache with what is not yet on the medium, and blocks of metadata in
 * memory. */
extern struct block_device disk;
void disk_open(const u8 *bytes, u32 size); /* the medium is a copy of them */
const u8 *disk_medium(void); /* including all writes, flushed or not */
void disk_close(void);
/* The power fails n writes from now; a random part of those since the last flush is on the medium;
 * on_cut is called. */
void disk_cut_after(u32 n, u32 seed, void (*on_cut)(void));
/* From now on one in one_in reads of metadata fails; 0: none. */
void disk_fail(u32 one_in, u32 seed);
/* The nth read of metadata or flush from now on fails, and all after it; 0: none. */
void disk_break_after(u32 n);
/* The next flush, or the next writing of all dirty metadata, fails. */
void disk_refuse(bool flush);
/* From now on each write and each flush is printed: "write SECTOR BYTES", in hexadecimal, and "flush N" at its end; N
 * sectors were written while it was under way, and it does not cover them. */
void disk_record(void);
/* From now on everything dirty is written before each read of metadata. */
void disk_busy(void);
void disk_read(u32 sector, void *to, u32 bytes);
void disk_write(u32 sector, const void *from, u32 bytes);
/* Writes n random dirty blocks of metadata. */
void disk_flush_some(u32 n, u32 seed);
u32 disk_nr_held(void); /* blocks that have not been released */
u32 host_random(u32 *state);

/* inodes.c: inodes in memory, and other functions that ext2 needs from a kernel. */
extern struct super_block host_sb;
extern bool host_quiet; /* printk prints nothing */
int host_mount(bool read_only, const char *options);
void host_drop_unused(void); /* evicts unused inodes */
int host_sync(void);
int host_fsync(struct inode *inode);
void host_umount(void);
int host_truncate(struct inode *inode, u64 size);

/* labs/redo/confine.c, in the grader's program only: from now on no file can be opened. */
__attribute__((weak)) void host_confine(void);

/* second.c: a second program. */
/* It does a command, which `run` performs. when: "now", "later" (in the next kmalloc), or a number: in
 * that read of metadata. Returns 0 or -EBUSY. */
long second_begin(const char *command, const char *when, long (*run)(char *command));
/* Ends the flush that its command waits for, and the command. Returns its answer, or -EINVAL if there is none. */
long second_finish(void);
void second_waits(void); /* called in each flush */
void second_may_begin(bool is_read); /* called in each kmalloc, and in each read of metadata */

/* names.c: paths. */
/* Looks up the inode and takes a reference. Returns 0 or -errno. */
int host_walk(const char *path, struct inode **inode);
/* Looks up the directory, takes a reference, and returns the last name, which points into path. */
int host_walk_parent(const char *path, struct inode **dir, struct path_name *last);
int host_create(const char *path, u32 mode, u32 rdev, const char *target);
int host_link(const char *from, const char *to);
int host_remove(const char *path, bool is_dir);
int host_rename(const char *from, const char *to);

/* fuzz.c: damages copies of the image, and uses them. Returns after surviving all of them. */
void host_fuzz(const u8 *bytes, u32 size, u32 seed, u32 count, const char *mount_options);

#endif
