/* One program under many names, to share the code of the C library. Each tool is a function that
 * takes the arguments of main and returns the exit status. */
#ifndef FSTOOLS_H
#define FSTOOLS_H

#include "lib.h"

struct tool {
	const char *name, *help;
	int min, max; /* arguments; max 0: any number */
	int (*run)(int argc, char **argv);
};

extern const struct tool name_tools[], mount_tools[]; /* end with a NULL name */

int run_dd(int argc, char **argv);

/* Returns 1 with a message if the call has failed, else 0. */
int failed(int result, const char *what);

#endif
