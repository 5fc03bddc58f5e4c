/* Numbers in arguments. A bad one is the end of the program, with a message that names it. */
#include "lib.h"

long long parse_number(const char *text, const char *what, long long min, long long max)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < min || value > max) {
		warn_user("%s: '%s' is not a number from %lld to %lld", what, text, min, max);
		exit(2);
	}
	return value;
}

long parse_seconds_ms(const char *text, const char *what)
{
	char whole[16], *point;
	long ms = 0;

	snprintf(whole, sizeof(whole), "%s", text);
	point = strchr(whole, '.');
	if (point) {
		*point++ = '\0';
		for (int digit = 100; digit && *point; digit /= 10, point++)
			ms += digit * parse_number((char[]){ *point, '\0' }, what, 0, 9);
	}
	return ms + 1000 * parse_number(whole[0] ? whole : "0", what, 0, 1000000);
}
