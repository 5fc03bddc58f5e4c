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

void proc_base_init(void);
void proc_disks_init(void);
void proc_pid_init(void);
void shrink_init(void);
void proc_maps_show(struct seq_file *m, struct task_struct *t);

#endif
