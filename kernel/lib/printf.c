/*
 * Formatted output. A conversion is parsed into a struct spec. Numbers are converted backwards in a
 * small buffer and then laid out as blanks, sign or prefix, zeros, digits, blanks. Output goes
 * through put(), which also counts characters that do not fit.
 */
#include "lib/printf.h"
#include "lib/string.h"

enum spec_flags { LEFT = 1, PLUS = 2, SPACE = 4, ALT = 8, ZERO = 16, UPPER = 32, SIGNED = 64 };

struct spec {
	u32 flags;
	int width;
	int precision; /* -1: none */
	int length;    /* in bytes: 1, 2, 4, 8 */
};

struct out {
	char *buf;
	size_t size, count; /* count continues beyond size */
};

static void put(struct out *o, char c)
{
	if (o->count < o->size)
		o->buf[o->count] = c;
	o->count++;
}

static void put_repeated(struct out *o, char c, int n)
{
	while (n-- > 0)
		put(o, c);
}

static void put_bytes(struct out *o, const char *s, size_t n)
{
	if (o->count < o->size)
		memcpy(o->buf + o->count, s, MIN(n, o->size - o->count));
	o->count += n;
}

/* Prints s[0 .. len) in a field of sp->width. */
static void put_field(struct out *o, const struct spec *sp, const char *s, int len)
{
	if (!(sp->flags & LEFT))
		put_repeated(o, ' ', sp->width - len);
	put_bytes(o, s, len);
	if (sp->flags & LEFT)
		put_repeated(o, ' ', sp->width - len);
}

/* Writes the digits so that they end before `end`. Returns the first digit. 0 has no digits. */
static char *make_digits(char *end, u64 value, u32 base, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	u32 low;

	/* 64-bit division is a library call: switch to 32 bits as soon as possible. */
	for (; value >> 32; value /= base)
		*--end = digits[value % base];
	for (low = value; low; low /= base)
		*--end = digits[low % base];
	return end;
}

/* Returns the text before the digits: a sign or 0x. */
static const char *number_prefix(const struct spec *sp, u32 base, bool negative, u64 value)
{
	if (negative)
		return "-";
	if (sp->flags & SIGNED)
		return sp->flags & PLUS ? "+" : sp->flags & SPACE ? " " : "";
	if (base == 16 && sp->flags & ALT && value)
		return sp->flags & UPPER ? "0X" : "0x";
	return "";
}

static void put_number(struct out *o, const struct spec *sp, u64 value, u32 base)
{
	char buf[24], *end = buf + sizeof(buf), *digits;
	bool negative = sp->flags & SIGNED && (s64)value < 0;
	const char *prefix = number_prefix(sp, base, negative, value);
	int nr_prefix = prefix[0] ? 1 + (prefix[1] != 0) : 0;
	int len, zeros, blanks;

	digits = make_digits(end, negative ? -value : value, base, sp->flags & UPPER);
	len = end - digits;
	zeros = MAX((sp->precision < 0 ? 1 : sp->precision) - len, 0);
	blanks = MAX(sp->width - nr_prefix - zeros - len, 0);
	if (sp->flags & ZERO && !(sp->flags & LEFT) && sp->precision < 0) {
		zeros += blanks;
		blanks = 0;
	}
	if (!(sp->flags & LEFT))
		put_repeated(o, ' ', blanks);
	put_bytes(o, prefix, nr_prefix);
	put_repeated(o, '0', zeros);
	put_bytes(o, digits, len);
	if (sp->flags & LEFT)
		put_repeated(o, ' ', blanks);
}

static u32 flag_of(char c)
{
	switch (c) {
	case '-':
		return LEFT;
	case '+':
		return PLUS;
	case ' ':
		return SPACE;
	case '#':
		return ALT;
	case '0':
		return ZERO;
	default:
		return 0;
	}
}

static int parse_int(const char **fmt)
{
	int n = 0;

	for (; **fmt >= '0' && **fmt <= '9'; (*fmt)++)
		n = n * 10 + (**fmt - '0');
	return n;
}

static int parse_length(const char **fmt)
{
	const char *f = *fmt;
	int length = sizeof(int);

	if (f[0] == 'h')
		length = f[1] == 'h' ? sizeof(char) : sizeof(short);
	else if (f[0] == 'l')
		length = f[1] == 'l' ? sizeof(long long) : sizeof(long);
	else if (f[0] == 'z')
		length = sizeof(size_t);
	else
		return length;
	*fmt += f[0] == f[1] && f[0] != 'z' ? 2 : 1;
	return length;
}

/* Passes va_list by address: it may be an array type, which decays to a pointer as a parameter. */
struct args {
	va_list list;
};

/* Parses everything between % and the conversion letter. */
static struct spec parse_spec(const char **fmt, struct args *args)
{
	struct spec sp = { .precision = -1 };

	while (flag_of(**fmt))
		sp.flags |= flag_of(*(*fmt)++);
	if (**fmt == '*') {
		(*fmt)++;
		sp.width = va_arg(args->list, int);
		if (sp.width < 0) {
			sp.flags |= LEFT;
			sp.width = -sp.width;
		}
	} else {
		sp.width = parse_int(fmt);
	}
	if (**fmt == '.') {
		(*fmt)++;
		if (**fmt == '*') {
			(*fmt)++;
			sp.precision = va_arg(args->list, int);
		} else {
			sp.precision = parse_int(fmt);
		}
	}
	sp.length = parse_length(fmt);
	return sp;
}

static u64 fetch_number(const struct spec *sp, struct args *args)
{
	bool is_signed = sp->flags & SIGNED;
	u32 value;

	if (sp->length == 8)
		return va_arg(args->list, u64);
	value = va_arg(args->list, u32);
	if (sp->length == 1)
		value = is_signed ? (u32)(s8)value : (u8)value;
	else if (sp->length == 2)
		value = is_signed ? (u32)(s16)value : (u16)value;
	return is_signed ? (u64)(s32)value : value;
}

static void put_string(struct out *o, const struct spec *sp, const char *s)
{
	if (!s)
		s = "(null)";
	put_field(o, sp, s, sp->precision < 0 ? strlen(s) : strnlen(s, sp->precision));
}

static void put_conversion(struct out *o, char c, struct spec *sp, struct args *args)
{
	char ch;

	switch (c) {
	case 'd':
	case 'i':
		sp->flags |= SIGNED;
		put_number(o, sp, fetch_number(sp, args), 10);
		break;
	case 'u':
		put_number(o, sp, fetch_number(sp, args), 10);
		break;
	case 'X':
		sp->flags |= UPPER;
		put_number(o, sp, fetch_number(sp, args), 16);
		break;
	case 'x':
		put_number(o, sp, fetch_number(sp, args), 16);
		break;
	case 'p':
		sp->flags |= ALT;
		put_number(o, sp, (uintptr_t)va_arg(args->list, void *), 16);
		break;
	case 's':
		put_string(o, sp, va_arg(args->list, const char *));
		break;
	case 'c':
		ch = va_arg(args->list, int);
		put_field(o, sp, &ch, 1);
		break;
	default: /* %% and unknown letters print themselves */
		put(o, c);
	}
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list list)
{
	struct out o = { .buf = buf, .size = size };
	struct args args;
	struct spec sp;

	va_copy(args.list, list);
	for (; *fmt; fmt++) {
		if (*fmt != '%') {
			put(&o, *fmt);
			continue;
		}
		fmt++;
		sp = parse_spec(&fmt, &args);
		if (!*fmt)
			break;
		put_conversion(&o, *fmt, &sp, &args);
	}
	va_end(args.list);
	if (size)
		buf[MIN(o.count, size - 1)] = '\0';
	return o.count;
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return !size ? 0 : MIN(n, (int)size - 1);
}
