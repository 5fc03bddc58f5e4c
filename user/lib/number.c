/* Numbers in arguments. An invalid one ends the program, with a message that names it. */
#include "lib.h"

#define DIGITS "0123456789"

enum { MAX_SECONDS = 1000000 };

bool is_number(const char *text, long long *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 10);
	return !errno && end != text && !*end;
}

__attribute__((noreturn)) static void refuse(const char *text, const char *what, long long min,
					     long long max)
{
	warn_user("%s: '%s' is not a number from %lld to %lld", what, text, min, max);
	exit(2);
}

long long parse_number(const char *text, const char *what, long long min, long long max)
{
	long long value;

	if (!is_number(text, &value) || value < min || value > max)
		refuse(text, what, min, max);
	return value;
}

/* Digits after the third decimal are ignored. */
long parse_seconds_ms(const char *text, const char *what)
{
	size_t before = strspn(text, DIGITS);
	const char *point = text + before, *fraction = point + (*point == '.');
	size_t behind = strspn(fraction, DIGITS);
	long long seconds = before ? strtoll(text, NULL, 10) : 0;
	long ms = 0;

	if (!(before + behind) || fraction[behind] || seconds > MAX_SECONDS)
		refuse(text, what, 0, MAX_SECONDS);
	for (long unit = 100; unit && isdigit((unsigned char)*fraction); unit /= 10)
		ms += unit * (*fraction++ - '0');
	return seconds * 1000 + ms;
}
