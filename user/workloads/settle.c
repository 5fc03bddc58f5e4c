/*
 * settle: lets the machine come to rest, and becomes refstring with the string in /string.
 *
 * After each pause the policy's overdue tick comes first. So when refstring begins, a tick has just
 * occurred, and init, the only other process, has been asleep for several ticks: the string fits
 * between two ticks, and a policy that checks finds init idle. The kernel's command line would be
 * too short for a long string, and a shell would be another process with pages.
 */
#include "lib.h"

#define HELP                                                                                       \
	"usage: settle\n"                                                                          \
	"Let the machine come to rest, and run refstring -v with the arguments that the\n"         \
	"file /string holds.\n"

#define PAUSES 4
#define PAUSE_US 120000

static char text[1 << 16];

int main(int argc, char **argv)
{
	static char *words[1 << 13] = { "refstring", "-v" };
	size_t n = 2;

	help_if_asked(argc, argv, HELP);
	if (argc > 1)
		usage_error(HELP);
	if (read_file("/string", text, sizeof(text)) <= 0) {
		warn_errno("/string");
		return 1;
	}
	for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n"))
		if (n < ARRAY_SIZE(words) - 1)
			words[n++] = word;
	for (int i = 0; i < PAUSES; i++)
		usleep(PAUSE_US);
	execv("/bin/refstring", words);
	warn_errno("/bin/refstring");
	return 1;
}
