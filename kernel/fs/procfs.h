/* Shared by the files of procfs. */
#ifndef FS_PROCFS_H
#define FS_PROCFS_H

#include "fs/proc.h"

struct inode;

/* Linux reports times in ticks of 1/100 s. */
#define USER_HZ_NS 10000000u

static inline u64 ns_to_ticks(u64 ns)
{
	return ns / USER_HZ_NS;
}

/* A symlink in /proc/<pid>. target returns its inode, or NULL, without taking a reference. */
struct proc_pid_link {
	const char *name;
	struct inode *(*target)(struct task_struct *t);
};

extern const struct proc_pid_link proc_pid_links[]; /* ends with a NULL name */

/* Of the root of /proc, and of "self" in it (proc_pids.c). */
extern const struct inode_operations proc_root_ops, proc_self_ops;
/* Of the files of a process: inode->private is the struct proc_pid_file, private_id the pid. */
extern const struct file_operations proc_pid_fops;

void proc_maps_show(struct seq_file *m, struct task_struct *t);

#endif
