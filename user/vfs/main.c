/*
 * vfs: do names, links, nodes, owners, times and locks behave as on Linux? Runs in its own folder
 * below the working directory, and leaves that empty.
 *
 * Linux is the oracle: the same program must report no failures there (run by root, on a file
 * system that counts the names of directories, as ext4 and tmpfs do). With `matrix` it checks
 * nothing and prints the result of renaming every kind of file onto every other, to be compared
 * with the same lines from Linux.
 */
#include "vfs.h"

#define HELP                                                                                         \
	"usage: vfs [matrix]\n"                                                                      \
	"Compare names, links, nodes, owners, times and locks with Linux. checks= made, failures=\n" \
	"answers that differ; exit status 1 if there are any. matrix: print what renames say.\n"

int make(const char *name)
{
	int fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0644);

	return fd < 0 ? fd : close(fd);
}

struct stat info(const char *name)
{
	struct stat st = { .st_nlink = 0 };

	lstat(name, &st);
	return st;
}

int rename2(const char *from, const char *to, int flags)
{
	return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	umask(022);
	if (mkdir("vfs-test", 0700) || chdir("vfs-test"))
		die_errno("vfs-test");
	if (argc == 2 && !strcmp(argv[1], "matrix")) {
		matrix();
	} else {
		for (size_t i = 0; name_tests[i]; i++)
			name_tests[i]();
		test_locks();
	}
	if (chdir("..") || rmdir("vfs-test"))
		die_errno("vfs-test");
	return argc == 1 ? check_report("vfs") : 0;
}
