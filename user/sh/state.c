/* What all parts of the shell share: its state, and the form of its error messages. */
#include "sh.h"

int last_status, script_argc;
char **script_argv;
bool interactive;

int error(const char *what, const char *why)
{
	dprintf(2, "sh: %s: %s\n", what, why);
	return 1;
}
