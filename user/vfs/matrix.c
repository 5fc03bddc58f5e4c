/* The results of renaming every kind of file onto every other. */
#include "vfs.h"

static const char *const kinds[] = { "none", "file", "empty", "full", "link", "fifo", "twin" };

static void put(const char *kind, const char *name)
{
	char in[32];

	snprintf(in, sizeof(in), "%s/in", name);
	if (!strcmp(kind, "file"))
		make(name);
	else if (!strcmp(kind, "empty") || !strcmp(kind, "full"))
		mkdir(name, 0700);
	else if (!strcmp(kind, "link"))
		symlink("nowhere", name);
	else if (!strcmp(kind, "fifo"))
		mkfifo(name, 0600);
	else if (!strcmp(kind, "twin"))
		link("twin", name);
	if (!strcmp(kind, "full"))
		make(in);
}

static void clear(const char *name)
{
	char in[32];

	snprintf(in, sizeof(in), "%s/in", name);
	unlink(in);
	if (rmdir(name))
		unlink(name);
}

static void print_rename(const char *from, const char *to, int flags)
{
	int err = rename2("a", "b", flags) ? errno : 0;

	printf("rename %s %s %d: %d, left %o, there %o, names %lu\n", from, to, flags, err,
	       info("a").st_mode & S_IFMT, info("b").st_mode & S_IFMT,
	       (unsigned long)info("twin").st_nlink);
}

void matrix(void)
{
	make("twin");
	for (size_t i = 0; i < ARRAY_SIZE(kinds) * ARRAY_SIZE(kinds) * 2; i++) {
		const char *from = kinds[i / 2 / ARRAY_SIZE(kinds)];
		const char *to = kinds[i / 2 % ARRAY_SIZE(kinds)];

		put(from, "a");
		put(to, "b");
		print_rename(from, to, i % 2);
		clear("a");
		clear("b");
	}
	unlink("twin");
}
