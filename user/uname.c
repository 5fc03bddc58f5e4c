/* uname: prints the system's name. */
#include "lib.h"
#include <sys/utsname.h>

#define HELP                                                                                       \
	"usage: uname [-asnrvm]\n"                                                                 \
	"The system's name (-s), host name (-n), release (-r), version (-v) and\n"                 \
	"machine (-m); -a: all of them; nothing: -s.\n"

int main(int argc, char **argv)
{
	bool wanted[128] = { false };
	struct utsname u;
	const char *blank = "";
	int c;

	help_if_asked(argc, argv, HELP);
	while ((c = getopt(argc, argv, "asnrvm")) != -1) {
		if (c == '?')
			usage_error(HELP);
		wanted[c] = true;
	}
	if (argc == 1)
		wanted['s'] = true;
	if (uname(&u))
		die_errno("uname");

	const struct {
		char option;
		const char *text;
	} parts[] = { { 's', u.sysname },
		      { 'n', u.nodename },
		      { 'r', u.release },
		      { 'v', u.version },
		      { 'm', u.machine } };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!wanted['a'] && !wanted[(int)parts[i].option])
			continue;
		printf("%s%s", blank, parts[i].text);
		blank = " ";
	}
	putchar('\n');
	return 0;
}
