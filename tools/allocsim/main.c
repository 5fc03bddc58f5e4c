/*
 * allocsim: replays allocations through the allocators of this folder and those of the kernel.
 *
 *   allocsim objects LOG      what each allocator makes of the objects of a log: replay.c
 *   allocsim frames LOG       the same of its frames
 *   allocsim check LOG        the kernel's counts, computed again: check.c
 *   allocsim waste            made traffic: traffic.c
 *   allocsim random
 *   allocsim alternating
 *
 * Exit status: 0 good, 2 wrong usage, 3 bad input or out of memory.
 */
#include "sim.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { USAGE = 2, BAD_INPUT };

void bad(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs("allocsim: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	exit(BAD_INPUT);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "", *log = argc > 2 ? argv[2] : NULL;

	machine_create();
	if (log && !strcmp(mode, "objects"))
		replay(log, false);
	else if (log && !strcmp(mode, "frames"))
		replay(log, true);
	else if (log && !strcmp(mode, "check"))
		check(log);
	else if (!strcmp(mode, "waste"))
		waste();
	else if (!strcmp(mode, "random"))
		random_traffic();
	else if (!strcmp(mode, "alternating"))
		alternating();
	else
		return fputs("usage: allocsim objects|frames|check LOG, or waste|random|alternating\n",
			     stderr),
		       USAGE;
	return 0;
}
