/* Shared by the files of procfs. */
#ifndef FS_PROCFS_H
#define FS_PROCFS_H

#include "fs/proc.h"

struct dir_entry;
struct file_operations;
struct inode;
struct inode_operations;
struct path_name;

/* Linux reports times in ticks of 1/100 s. */
#define USER_HZ_NS 10000000u

static inline u64 ns_to_ticks(u64 ns)
{
	return ns / USER_HZ_NS;
}

/* The operations of the root of /proc, and of "self" in it (proc_pids.c). */
extern const struct inode_operations proc_root_ops, proc_self_ops;
/* The operations of a process's files: inode->private is the struct proc_pid_file, private_id the
 * pid. */
extern const struct file_operations proc_pid_fops;

/* proc_pids.c: the inode number of an entry of a process's directories. index: 0 is /proc/<pid>. */
u32 proc_pid_ino(int pid, u32 index);
#define PROC_FD_INDEX 64u /* of descriptor 0 in fd; smaller numbers are for the other entries */
/* Creates an inode in a process's directory dir, for lookup to return; NULL if out of memory. */
struct inode *proc_pid_inode(struct inode *dir, u32 mode, u32 index);
/* Fills in an entry of a directory. Returns 0. */
int proc_entry(struct dir_entry *e, const char *name, u32 ino, u32 mode, u64 next);
/* Returns the number that a name spells without leading zeros, or -1. */
int proc_parse_number(const struct path_name *name);
/* Stores what readlink says of a link to an inode. Returns 0 or -ERANGE. */
int proc_link_text(struct inode *target, char *buf, size_t size);

void proc_maps_show(struct seq_file *m, struct task_struct *t);

#endif
