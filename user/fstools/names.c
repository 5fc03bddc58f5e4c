/* Tools on names: ln, mv, mkfifo, rmdir, touch, chmod, chown, stat, find. */
#include "fstools.h"

/* Returns the path inside a directory, with the last part of the old name, or else the given
 * name. */
static const char *destination(const char *from, const char *to)
{
	static char path[1024];
	const char *slash = strrchr(from, '/');
	struct stat st;

	if (stat(to, &st) || !S_ISDIR(st.st_mode))
		return to;
	snprintf(path, sizeof(path), "%s/%s", to, slash ? slash + 1 : from);
	return path;
}

static int run_ln(int argc, char **argv)
{
	bool soft = !strcmp(argv[1], "-s");
	const char *to;

	if (argc != 3 + soft) {
		warn_user("a file and a name are needed");
		return 2;
	}
	argv += soft;
	to = destination(argv[1], argv[2]);
	return failed(soft ? symlink(argv[1], to) : link(argv[1], to), to);
}

static int run_mv(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc - 1; i++)
		status |= failed(rename(argv[i], destination(argv[i], argv[argc - 1])), argv[i]);
	return status;
}

static int run_mkfifo(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc; i++)
		status |= failed(mkfifo(argv[i], 0666), argv[i]);
	return status;
}

static int run_rmdir(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc; i++)
		status |= failed(rmdir(argv[i]), argv[i]);
	return status;
}

static int run_touch(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_WRONLY | O_CREAT | O_NONBLOCK, 0666);

		if (fd < 0 && errno != ENXIO && errno != EISDIR) {
			status |= failed(fd, argv[i]);
			continue;
		}
		close(fd);
		status |= failed(utimensat(AT_FDCWD, argv[i], NULL, 0), argv[i]);
	}
	return status;
}

static int run_chmod(int argc, char **argv)
{
	char *end;
	long mode = strtol(argv[1], &end, 8);
	int status = 0;

	if (end == argv[1] || *end || mode < 0 || mode > 07777) {
		warn_user("%s: an octal mode is needed", argv[1]);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		status |= failed(chmod(argv[i], mode), argv[i]);
	return status;
}

static int run_chown(int argc, char **argv)
{
	char *colon = strchr(argv[1], ':');
	int status = 0, gid = -1, uid;

	if (colon) {
		*colon++ = '\0';
		gid = parse_number(colon, "group", 0, INT32_MAX);
	}
	uid = *argv[1] ? parse_number(argv[1], "user", 0, INT32_MAX) : -1;
	for (int i = 2; i < argc; i++)
		status |= failed(chown(argv[i], uid, gid), argv[i]);
	return status;
}

static void print_time(const char *name, time_t sec, long nsec)
{
	struct tm tm;

	gmtime_r(&sec, &tm);
	printf("%s: %04d-%02d-%02d %02d:%02d:%02d.%09ld\n", name, tm.tm_year + 1900, tm.tm_mon + 1,
	       tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, nsec);
}

static int run_stat(int argc, char **argv)
{
	struct stat st;
	int status = 0;

	for (int i = 1; i < argc; i++) {
		if (failed(lstat(argv[i], &st), argv[i])) {
			status = 1;
			continue;
		}
		printf("file: %s\nsize: %lld blocks: %lld mode: %o links: %lu\n", argv[i],
		       (long long)st.st_size, (long long)st.st_blocks, st.st_mode,
		       (unsigned long)st.st_nlink);
		printf("device: %u inode: %llu uid: %u gid: %u\n", (unsigned)st.st_dev,
		       (unsigned long long)st.st_ino, st.st_uid, st.st_gid);
		print_time("access", st.st_atim.tv_sec, st.st_atim.tv_nsec);
		print_time("modify", st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
		print_time("change", st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	}
	return status;
}

/* Prints the contents of a directory tree, each name after its directory's. */
static int walk(char *path, size_t len, size_t room)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	struct stat st;
	int status = 0;

	if (!dir)
		return failed(-1, path);
	while ((e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		size_t n = snprintf(path + len, room - len, "/%s", e->d_name);

		puts(path);
		if (len + n < room && !lstat(path, &st) && S_ISDIR(st.st_mode))
			status |= walk(path, len + n, room);
		path[len] = '\0';
	}
	closedir(dir);
	return status;
}

static int run_find(int argc, char **argv)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s", argc > 1 ? argv[1] : ".");
	if (failed(lstat(path, &st), path))
		return 1;
	puts(path);
	return S_ISDIR(st.st_mode) ? walk(path, strlen(path), sizeof(path)) : 0;
}

const struct tool name_tools[] = {
	{ "ln", "usage: ln [-s] FILE NAME\nGive a file one more name. -s: a symbolic link.\n", 2, 3,
	  run_ln },
	{ "mv", "usage: mv FILE... NAME\nRename a file, or move files into a directory.\n", 2, 0,
	  run_mv },
	{ "mkfifo", "usage: mkfifo NAME...\nMake pipes with names.\n", 1, 0, run_mkfifo },
	{ "rmdir", "usage: rmdir DIR...\nRemove directories that are empty.\n", 1, 0, run_rmdir },
	{ "touch", "usage: touch FILE...\nSet times to now; make files that are missing.\n", 1, 0,
	  run_touch },
	{ "chmod", "usage: chmod MODE FILE...\nSet permissions. MODE: octal.\n", 2, 0, run_chmod },
	{ "chown", "usage: chown USER[:GROUP] FILE...\nSet owners, by number.\n", 2, 0, run_chown },
	{ "stat", "usage: stat FILE...\nShow all that describes files.\n", 1, 0, run_stat },
	{ "dd",
	  "usage: dd [if=FILE] [of=FILE] [bs=BYTES] [count=N] [skip=N] [seek=N] [conv=fsync]\n"
	  "          [iflag=direct] [oflag=direct|sync]\n"
	  "Copy N blocks, from the skip-th on, to the seek-th on.\n",
	  0, 0, run_dd },
	{ "find", "usage: find [DIR]\nList all names below a directory.\n", 0, 1, run_find },
	{ 0 },
};
