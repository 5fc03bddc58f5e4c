/* Parses numbers for the command line, /proc/sys and other text input. */
#include "errno.h"
#include "lib/string.h"

/* Returns the value of a digit in any base up to 36, or 36. */
static u32 digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' - 'A';
	return c >= 'a' && c <= 'z' ? c - 'a' + 10u : 36;
}

static u32 detect_base(const char *s)
{
	if (s[0] != '0')
		return 10;
	return (s[1] | 0x20) == 'x' ? 16 : 8;
}

/* Sets *over if the number does not fit; the result is then ULLONG_MAX. */
static u64 parse_digits(const char *s, const char **end, u32 base, bool *over)
{
	u64 value = 0;

	*over = false;
	for (; digit_value(*s) < base; s++) {
		*over |= __builtin_mul_overflow(value, base, &value);
		*over |= __builtin_add_overflow(value, digit_value(*s), &value);
	}
	*end = s;
	return *over ? UINT64_MAX : value;
}

static u64 parse_number(const char *s, const char **end, int base, bool *over)
{
	u32 b = base ? (u32)base : detect_base(s);
	bool prefixed = b == 16 && s[0] == '0' && (s[1] | 0x20) == 'x' && digit_value(s[2]) < 16;

	return parse_digits(prefixed ? s + 2 : s, end, b, over);
}

unsigned long long strtoull(const char *s, char **end, int base)
{
	const char *stop;
	bool over;
	u64 value = parse_number(s, &stop, base, &over);

	if (end)
		*end = (char *)stop;
	return value;
}

int parse_u64(const char *s, u64 *out)
{
	const char *end;
	bool over;
	u64 value = parse_number(s, &end, 0, &over);

	if (end == s || *end)
		return -EINVAL;
	if (over)
		return -ERANGE;
	*out = value;
	return 0;
}

int parse_u32(const char *s, u32 *out)
{
	u64 value;
	int err = parse_u64(s, &value);

	if (err)
		return err;
	if (value > UINT32_MAX)
		return -ERANGE;
	*out = value;
	return 0;
}

/* Returns log2 of the unit for suffix c, or -1. */
static int suffix_shift(char c)
{
	static const char suffixes[] = "kmg";
	const char *at = c ? strchr(suffixes, c | 0x20) : NULL;

	return at ? 10 * (int)(at - suffixes + 1) : -1;
}

int parse_size(const char *s, u64 *out)
{
	const char *end;
	bool over;
	u64 value = parse_number(s, &end, 0, &over);
	int shift = *end ? suffix_shift(*end) : 0;

	if (end == s || shift < 0 || (*end && end[1]))
		return -EINVAL;
	if (over || value > UINT64_MAX >> shift)
		return -ERANGE;
	*out = value << shift;
	return 0;
}
