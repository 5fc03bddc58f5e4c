/* echo: prints its arguments, separated by blanks. */
#include "lib.h"

#define HELP                                                                                       \
	"usage: echo [-n] [WORD...]\n"                                                             \
	"Write the words. -n: without a newline at the end.\n"

int main(int argc, char **argv)
{
	bool newline = argc < 2 || strcmp(argv[1], "-n");

	help_if_asked(argc, argv, HELP);
	for (int first = newline ? 1 : 2, i = first; i < argc; i++)
		printf("%s%s", i > first ? " " : "", argv[i]);
	if (newline)
		putchar('\n');
	if (fflush(stdout) || ferror(stdout))
		die_errno("write error");
	return 0;
}
