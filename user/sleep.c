/* sleep: waits. */
#include "lib.h"

#define HELP                                                                                       \
	"usage: sleep SECONDS\n"                                                                   \
	"Wait; a fraction like 0.25 is understood.\n"

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	if (argc != 2)
		usage_error(HELP);
	sleep_ms(parse_seconds_ms(argv[1], "SECONDS"));
	return 0;
}
