/*
 * /proc: a file has a name, a function that prints it, and optionally a function that handles what
 * is written to it. The text is generated when the file is read from its start.
 */
#ifndef FS_PROC_H
#define FS_PROC_H

#include "lib/seq_file.h"
#include "types.h"

struct inode;
struct inode_operations;
struct task_struct;
struct vm_area_struct;

struct proc_file {
	const char *path; /* below /proc, e.g. "sys/vm/policy" */
	/* Never sleeps. May be called again at once with a larger buffer. */
	void (*show)(struct seq_file *m);
	/* text is NUL-terminated, without the newline. Returns 0 or -errno. NULL: read-only. May sleep. */
	int (*store)(char *text);
};

/* An entry of /proc/<pid>/: a file, or a link, or a directory. No function sleeps. t may be a kernel
 * thread or a zombie: t->mm may be NULL. */
struct proc_pid_file {
	const char *name;
	void (*show)(struct seq_file *m, struct task_struct *t);
	/* The inode that the link leads to, without a reference, or NULL. */
	struct inode *(*target)(struct task_struct *t);
	/* A directory: the operations of its inode, whose private_id is the pid. */
	const struct inode_operations *dir;
};

/*
 * PROC_FILES(files); registers a table from the file in which it stands. The table ends with an
 * entry without a path. The linker puts pointers to all tables side by side, and procfs.c makes
 * their files at boot. Two files of the same name make it panic.
 */
#define PROC_FILES(table)                                                                          \
	static const struct proc_file *const table##_entry                                         \
		__attribute__((used, section(".proc_files"))) = (table)
#define PROC_PID_FILES(table)                                                                      \
	static const struct proc_pid_file *const table##_entry                                     \
		__attribute__((used, section(".proc_pid_files"))) = (table)

/* Prints the line of a region in /proc/<pid>/maps. */
void proc_maps_region(struct seq_file *m, const struct vm_area_struct *vma);

#endif
