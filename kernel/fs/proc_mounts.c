/*
 * The mounts in /proc/<pid>: `mounts` as in /proc, and `mountinfo`, which numbers them. Every process
 * sees the same. The number of a mount is that of its file system, since none is mounted twice.
 */
#include "procfs.h"

#include "internal.h"

#include "fs/fs_type.h"

static void pid_mounts_show(struct seq_file *m, struct task_struct *t)
{
	(void)t;
	mounts_show(m);
}

static void mountinfo_show(struct seq_file *m, struct task_struct *t)
{
	static char path[PATH_MAX]; /* show functions do not sleep */
	const struct super_block *sb;

	(void)t;
	list_for_each_entry(sb, &mounts, node) {
		const char *access = sb->read_only ? "ro" : "rw";
		u32 parent = sb->mounted_on ? sb->mounted_on->sb->dev : 0;

		if (vfs_path_of(sb->root, path, sizeof(path)))
			continue;
		seq_printf(m, "%u %u %u:%u / %s %s,relatime - %s %s %s%s%s\n", sb->dev, parent,
			   sb->dev >> 8, sb->dev & 0xff, path, access, sb->type->name, sb->source,
			   access, sb->shown ? "," : "", sb->shown ? sb->shown : "");
	}
}

static const struct proc_pid_file files[] = {
	{ .name = "mountinfo", .show = mountinfo_show },
	{ .name = "mounts", .show = pid_mounts_show },
	{ 0 },
};

PROC_PID_FILES(files);
