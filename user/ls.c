/* ls: lists files, or the contents of directories. */
#include "lib.h"

#define HELP                                                                                       \
	"usage: ls [-a] [-l] [FILE...]\n"                                                          \
	"List files and what is in directories, by name.\n"                                        \
	"  -a  hidden ones too\n"                                                                  \
	"  -l  with type, permissions, links, owners, size, time of change\n"

static bool all, details;

/* Prints the target of a symbolic link, and the end of the line. */
static void print_target(const char *path, mode_t mode)
{
	char target[1024];
	ssize_t n = S_ISLNK(mode) ? readlink(path, target, sizeof(target)) : -1;

	if (n >= 0)
		printf(" -> %.*s", (int)n, target);
	puts("");
}

static void print_entry(const char *path, const char *name)
{
	static const char types[] = "?pc?d?b?-?l?s???";
	char mode[11] = "?rwxrwxrwx";
	struct stat st;
	struct tm tm;

	if (!details) {
		puts(name);
		return;
	}
	if (lstat(path, &st)) {
		warn_errno(path);
		return;
	}
	mode[0] = types[st.st_mode >> 12 & 15];
	for (int i = 0; i < 9; i++) {
		if (!(st.st_mode & 0400 >> i))
			mode[1 + i] = '-';
	}
	gmtime_r(&st.st_mtime, &tm);
	printf("%s %3lu %3u %3u %9lld %04d-%02d-%02d %02d:%02d %s", mode,
	       (unsigned long)st.st_nlink, st.st_uid, st.st_gid, (long long)st.st_size,
	       tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, name);
	print_target(path, st.st_mode);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_directory(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char full[1024], **names = NULL;
	size_t nr = 0;

	if (!dir) {
		warn_errno(path);
		return 1;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' && !all)
			continue;
		names = realloc(names, (nr + 1) * sizeof(*names));
		if (!names || !(names[nr++] = strdup(entry->d_name)))
			die_errno(path);
	}
	closedir(dir);
	qsort(names, nr, sizeof(*names), by_name);
	for (size_t i = 0; i < nr; i++) {
		snprintf(full, sizeof(full), "%s/%s", path, names[i]);
		print_entry(full, names[i]);
		free(names[i]);
	}
	free(names);
	return 0;
}

static int list(const char *path, bool with_title)
{
	struct stat st;

	if (stat(path, &st) && lstat(path, &st)) {
		warn_errno(path);
		return 1;
	}
	if (!S_ISDIR(st.st_mode)) {
		print_entry(path, path);
		return 0;
	}
	if (with_title)
		printf("%s:\n", path);
	return list_directory(path);
}

int main(int argc, char **argv)
{
	int c, status = 0;

	help_if_asked(argc, argv, HELP);
	while ((c = getopt(argc, argv, "al1")) != -1) {
		if (c == '?')
			usage_error(HELP);
		all |= c == 'a';
		details |= c == 'l';
	}
	if (optind == argc)
		return list(".", false);
	for (int i = optind; i < argc; i++)
		status |= list(argv[i], argc - optind > 1);
	return status;
}
