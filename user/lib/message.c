/* A program's messages, usage and help. */
#include "lib.h"

void warn_user(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	va_start(args, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

void warn_errno(const char *what)
{
	warn_user("%s: %s", what, strerror(errno));
}

void die_errno(const char *what)
{
	warn_errno(what);
	exit(1);
}

void help_if_asked(int argc, char **argv, const char *help)
{
	if (argc < 2 || strcmp(argv[1], "--help"))
		return;
	fputs(help, stdout);
	exit(0);
}

void usage_error(const char *help)
{
	fputs(help, stderr);
	exit(2);
}
