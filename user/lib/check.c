#include "check.h"

int nr_checks, nr_failures;

void check(bool ok, const char *file, int line, const char *text)
{
	nr_checks++;
	if (ok)
		return;
	nr_failures++;
	warn_user("%s:%d: %s (errno %d)", file, line, text, errno);
}

int check_report(const char *program)
{
	printf("R %s checks=%d failures=%d\n", program, nr_checks, nr_failures);
	return nr_failures != 0;
}
