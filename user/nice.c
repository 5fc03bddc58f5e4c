/* nice: runs a command with another priority. */
#include "lib.h"

#define HELP                                                                                       \
	"usage: nice [-n N] COMMAND [ARG...]\n"                                                    \
	"Run a command with the nice value raised by N (default 10): from -20,\n"                  \
	"favoured, to 19. Without a command: print the nice value.\n"

int main(int argc, char **argv)
{
	long step = 10;
	int first = 1;

	help_if_asked(argc, argv, HELP);
	if (argc > 2 && !strcmp(argv[1], "-n")) {
		step = parse_number(argv[2], "-n", -39, 39);
		first = 3;
	}
	if (first == argc) {
		printf("%d\n", nice(0));
		return 0;
	}
	errno = 0;
	if (nice(step) == -1 && errno)
		warn_errno("nice");
	execvp(argv[first], argv + first);
	warn_errno(argv[first]);
	return errno == ENOENT ? 127 : 126;
}
