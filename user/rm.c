/* rm: removes files. */
#include "lib.h"

#define HELP                                                                                       \
	"usage: rm [-f] FILE...\n"                                                                 \
	"Remove files. -f: no error for one that is not there.\n"

int main(int argc, char **argv)
{
	bool force = argc > 1 && !strcmp(argv[1], "-f");
	int status = 0;

	help_if_asked(argc, argv, HELP);
	if (argc < 2)
		usage_error(HELP);
	for (int i = 1 + force; i < argc; i++) {
		if (!unlink(argv[i]) || (force && errno == ENOENT))
			continue;
		warn_errno(argv[i]);
		status = 1;
	}
	return status;
}
