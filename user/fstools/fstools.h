/* One program under many names, which share what they need of the C library: each is a function
 * that gets the arguments as main does, and returns the exit status. */
#ifndef FSTOOLS_H
#define FSTOOLS_H

#include "lib.h"

struct tool {
	const char *name, *help;
	int min, max; /* arguments; max 0: any number */
	int (*run)(int argc, char **argv);
};

extern const struct tool name_tools[], mount_tools[]; /* end with no name */

int run_dd(int argc, char **argv);

/* 1 with a message when the call has failed, else 0. */
int failed(int result, const char *what);

#endif
