/* kill: sends a signal to processes. */
#include "lib.h"

#define HELP                                                                                       \
	"usage: kill [-SIG] PID...\n"                                                              \
	"Send a signal, given by name or number (default TERM), to processes.\n"

int main(int argc, char **argv)
{
	int first = 1, signal = SIGTERM, status = 0;

	help_if_asked(argc, argv, HELP);
	if (argc > 1 && argv[1][0] == '-')
		signal = signal_number(argv[first++] + 1);
	if (signal < 0 || first >= argc)
		usage_error(HELP);
	for (int i = first; i < argc; i++) {
		if (!kill(parse_number(argv[i], "PID", INT32_MIN, INT32_MAX), signal))
			continue;
		warn_errno(argv[i]);
		status = 1;
	}
	return status;
}
