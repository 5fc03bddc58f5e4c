/* Tests of /proc in the running kernel. */
#include "internal.h"

#include "ktest_user.h"
#include "lib/ktap.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "sched/current.h"

static char text[8192];

/* Reads a file in pieces of `piece` into text, which may cut it. Returns the length or -errno. */
static long read_file(const char *path, u32 piece)
{
	char *user = ktest_user_begin(PAGE_SIZE);
	struct file *f;
	long n = 0, total = 0;
	int err;

	text[0] = '\0';
	if (!user)
		return -ENOMEM;
	err = vfs_open(path, O_RDONLY, 0, &f);
	if (!err) {
		while (total + piece < sizeof(text) && (n = vfs_read(f, user, piece)) > 0) {
			ktest_user_read(text + total, user, n);
			total += n;
		}
		text[total] = '\0';
		file_put(f);
	}
	ktest_user_end();
	return err ? err : n < 0 ? n : total;
}

KTEST(procfs, whole_files_in_small_pieces)
{
	long n = read_file("/proc/filesystems", 7);

	EXPECT_EQ(n, strlen(text));
	EXPECT_STREQ(text, "\text2\nnodev\tramfs\nnodev\tproc\nnodev\tdevtmpfs\nnodev\ttmpfs\n");
}

KTEST(procfs, every_process_has_its_files)
{
	char path[40], want[40];

	snprintf(path, sizeof(path), "/proc/%d/stat", current->pid);
	EXPECT(read_file(path, 512) > 0);
	snprintf(want, sizeof(want), "%d (%s) R ", current->pid, current->comm);
	EXPECT_EQ(strncmp(text, want, strlen(want)), 0);
}

KTEST(procfs, stat_has_52_fields)
{
	u32 spaces = 0;

	EXPECT(read_file("/proc/self/stat", 512) > 0);
	for (const char *s = strchr(text, ')'); s && *s; s++)
		spaces += *s == ' ';
	EXPECT_EQ(spaces, 50);
}

KTEST(procfs, unknown_processes_do_not_exist)
{
	EXPECT_EQ(read_file("/proc/99999", 16), -ENOENT);
	EXPECT_EQ(read_file("/proc/01", 16), -ENOENT);
	EXPECT_EQ(read_file("/proc/-1", 16), -ENOENT);
	EXPECT_EQ(read_file("/proc/self/none", 16), -ENOENT);
}

KTEST(procfs, names_belong_to_the_kernel)
{
	struct file *f;

	EXPECT_EQ(vfs_open("/proc/new", O_CREAT | O_WRONLY, 0644, &f), -EPERM);
	EXPECT_EQ(vfs_unlink("/proc/stat"), -EPERM);
	EXPECT_EQ(vfs_rmdir("/proc"), -EBUSY);
	EXPECT_EQ(vfs_open("/proc/stat", O_WRONLY, 0, &f), -EACCES);
	EXPECT_EQ(vfs_rename(&(struct path_at){ NULL, "/proc" }, &(struct path_at){ NULL, "/cron" },
			     0),
		  -EBUSY);
}

/* The text outgrows the first buffer and must still be complete. */
KTEST(procfs, long_texts_are_whole)
{
	u32 lines = 0;

	EXPECT(read_file("/proc/params", 512) > 0);
	for (const char *s = text; *s; s++)
		lines += *s == '\n';
	EXPECT(lines > 5);
}

KTEST(procfs, reading_leaves_nothing_behind)
{
	u32 objects;

	read_file("/proc/self/status", 100);
	objects = slab_objects_in_use();
	for (int i = 0; i < 10; i++)
		read_file("/proc/self/status", 100);
	EXPECT_EQ(slab_objects_in_use(), objects);
}
