/* mkdir: creates directories. */
#include "lib.h"

#define HELP                                                                                       \
	"usage: mkdir [-p] DIR...\n"                                                               \
	"Make directories. -p: parents too, and no error for what is there.\n"

static void make_parents(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0777);
		*p = '/';
	}
}

int main(int argc, char **argv)
{
	bool parents = argc > 1 && !strcmp(argv[1], "-p");
	int status = 0;

	help_if_asked(argc, argv, HELP);
	if (argc < 2 + parents)
		usage_error(HELP);
	for (int i = 1 + parents; i < argc; i++) {
		if (parents)
			make_parents(argv[i]);
		if (!mkdir(argv[i], 0777) || (parents && errno == EEXIST))
			continue;
		warn_errno(argv[i]);
		status = 1;
	}
	return status;
}
