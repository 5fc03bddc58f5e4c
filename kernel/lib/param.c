/*
 * Boot parameters and tunables.
 *
 * Problem: many parts of the kernel have a few tunables. They should be declared beside their
 * variable, be checked in one place, and explain themselves: the error message for a mistyped name
 * or value must list the valid ones, because the machine does not start otherwise.
 *
 * There are two kinds. A struct param is declared by a macro of lib/param.h, and the linker gathers
 * all of them between __params_start and __params_end. A table of struct vm_param belongs to a
 * policy or a guard, and is registered under its name. A lookup converts its entry to a struct
 * param, so that there is one way to set, show and describe a value.
 *
 * This code does not allocate, sleep or print. Locks: none. The command line is read before there
 * are tasks, and later callers do not sleep in here (except in a parse function, which must handle
 * that itself).
 */
#include "param_internal.h"

#include "errno.h"
#include "lib/printf.h"
#include "lib/string.h"

#define MAX_TABLES 48

extern const struct param __params_start[], __params_end[];

static struct {
	const char *prefix;
	const struct vm_param *table;
} tables[MAX_TABLES];
static int nr_tables;

static int table_find(const char *prefix)
{
	int i;

	for (i = 0; i < nr_tables; i++)
		if (!strcmp(tables[i].prefix, prefix))
			return i;
	return -1;
}

int param_register(const char *prefix, const struct vm_param *table)
{
	if (table_find(prefix) >= 0)
		return -EEXIST;
	if (nr_tables == MAX_TABLES)
		return -ENOSPC;
	tables[nr_tables].prefix = prefix;
	tables[nr_tables++].table = table;
	return 0;
}

static struct param param_of_entry(const struct vm_param *e)
{
	return (struct param){ .name = e->name,
			       .help = e->help,
			       .unit = e->unit,
			       .type = PARAM_T_U32,
			       .value = e->value,
			       .min = e->min,
			       .max = e->max };
}

static bool find_in_table(int i, const char *name, struct param *out)
{
	size_t len = strlen(tables[i].prefix);
	const struct vm_param *e;

	if (strncmp(name, tables[i].prefix, len) || name[len] != '.')
		return false;
	for (e = tables[i].table; e->name; e++)
		if (!strcmp(name + len + 1, e->name)) {
			*out = param_of_entry(e);
			return true;
		}
	return false;
}

bool param_find(const char *name, struct param *out)
{
	const struct param *p;
	int i;

	for (p = __params_start; p < __params_end; p++)
		if (!strcmp(name, p->name)) {
			*out = *p;
			return true;
		}
	for (i = 0; i < nr_tables; i++)
		if (find_in_table(i, name, out))
			return true;
	return false;
}

/* Uses the largest unit that divides the size: 65536 is 64K. */
static int format_size(char *buf, size_t size, u64 bytes)
{
	static const char *const units[] = { "", "K", "M", "G" };
	u32 i = 0;

	while (i < 3 && bytes && !(bytes & 1023)) {
		bytes >>= 10;
		i++;
	}
	return scnprintf(buf, size, "%llu%s", (unsigned long long)bytes, units[i]);
}

/* Describes the valid values for display. */
static void describe(const struct param *p, char *buf, size_t size)
{
	const char *blank = p->unit ? " " : "", *unit = p->unit ? p->unit : "";
	size_t n;

	switch (p->type) {
	case PARAM_T_U32:
		snprintf(buf, size, "%u..%u%s%s", (u32)p->min, (u32)p->max, blank, unit);
		break;
	case PARAM_T_SIZE:
		n = format_size(buf, size, p->min);
		n += scnprintf(buf + n, size - n, "..");
		n += format_size(buf + n, size - n, p->max);
		snprintf(buf + n, size - n, " %s", unit);
		break;
	case PARAM_T_BOOL:
		snprintf(buf, size, "on|off");
		break;
	case PARAM_T_STR:
		snprintf(buf, size, "text of at most %u bytes", (u32)p->max - 1);
		break;
	case PARAM_T_CALL:
		buf[0] = '\0';
		if (p->list)
			p->list(buf, size);
		break;
	}
}

static int set_u32(const struct param *p, const char *text)
{
	u32 value;

	if (parse_u32(text, &value) || value < p->min || value > p->max)
		return -EINVAL;
	*(u32 *)p->value = value;
	if (p->changed)
		p->changed();
	return 0;
}

static int set_size(const struct param *p, const char *text)
{
	u64 value;

	if (parse_size(text, &value) || value < p->min || value > p->max)
		return -EINVAL;
	*(u64 *)p->value = value;
	return 0;
}

static int set_bool(const struct param *p, const char *text)
{
	static const char *const names[][2] = {
		{ "0", "1" }, { "n", "y" }, { "no", "yes" }, { "off", "on" }, { "false", "true" },
	};
	u32 i, value;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		for (value = 0; value < 2; value++)
			if (!strcmp(text, names[i][value])) {
				*(bool *)p->value = value;
				return 0;
			}
	return -EINVAL;
}

static int set_str(const struct param *p, const char *text)
{
	if (strlen(text) >= p->max)
		return -EINVAL;
	strlcpy(p->value, text, p->max);
	return 0;
}

/* Sets the parameter. Returns 0 or -errno. If a parse function refuses the text, sets *why to its
 * message. */
static int set_value(const struct param *p, const char *text, const char **why)
{
	switch (p->type) {
	case PARAM_T_U32:
		return set_u32(p, text);
	case PARAM_T_SIZE:
		return set_size(p, text);
	case PARAM_T_BOOL:
		return set_bool(p, text);
	case PARAM_T_STR:
		return set_str(p, text);
	default:
		*why = p->parse(text);
		return *why ? -EINVAL : 0;
	}
}

static void explain_value(const char *name, const char *text, const struct param *p,
			  const char *why, char *err, size_t errsize)
{
	char valid[400];

	describe(p, valid, sizeof(valid));
	snprintf(err, errsize, "%s=%s: %s%s%s%s", name, text, why ? why : "",
		 why && valid[0] ? "; " : "", valid[0] ? "valid: " : "", valid);
}

/* A fixed buffer that collects names. */
struct name_list {
	char *buf;
	size_t size;
};

static bool append_name(const struct param_info *info, void *arg)
{
	struct name_list *list = arg;

	strlcat(list->buf, " ", list->size);
	strlcat(list->buf, info->name, list->size);
	return true;
}

/* The parameter whose name has the longest beginning in common with a given one. */
struct nearest {
	const char *given;
	size_t length;
	char name[sizeof(((struct param_info *)0)->name)];
};

static bool compare_name(const struct param_info *info, void *arg)
{
	struct nearest *best = arg;
	size_t n = 0;

	while (best->given[n] && best->given[n] == info->name[n])
		n++;
	if (n > best->length) {
		best->length = n;
		strlcpy(best->name, info->name, sizeof(best->name));
	}
	return true;
}

/* A name is suggested if more than half of what was given is its beginning. */
static void explain_name(const char *name, char *err, size_t errsize)
{
	struct name_list list = { err, errsize };
	struct nearest best = { name, strlen(name) / 2, "" };

	if (!errsize)
		return;
	snprintf(err, errsize, "unknown parameter %s; ", name);
	param_for_each(compare_name, &best);
	if (best.name[0]) {
		strlcat(err, "did you mean ", errsize);
		strlcat(err, best.name, errsize);
		strlcat(err, "? ", errsize);
	}
	strlcat(err, "there are:", errsize);
	param_for_each(append_name, &list);
}

int param_assign(const char *name, const char *text, char *err, size_t errsize)
{
	const char *why = NULL;
	struct param p;
	int result;

	if (!param_find(name, &p)) {
		explain_name(name, err, errsize);
		return -ENOENT;
	}
	if (!text && p.type == PARAM_T_BOOL)
		text = "on";
	if (!text) {
		why = "a value is needed";
		text = "";
		result = -EINVAL;
	} else {
		result = set_value(&p, text, &why);
	}
	if (result)
		explain_value(name, text, &p, why, err, errsize);
	return result;
}

static bool visit(const char *prefix, const struct param *p,
		  bool (*fn)(const struct param_info *info, void *arg), void *arg)
{
	struct param_info info = { .help = p->help };

	snprintf(info.name, sizeof(info.name), "%s%s%s", prefix, prefix[0] ? "." : "", p->name);
	describe(p, info.values, sizeof(info.values));
	return fn(&info, arg);
}

void param_for_each(bool (*fn)(const struct param_info *info, void *arg), void *arg)
{
	const struct vm_param *e;
	const struct param *p;
	struct param entry;
	int i;

	for (p = __params_start; p < __params_end; p++)
		if (!visit("", p, fn, arg))
			return;
	for (i = 0; i < nr_tables; i++)
		for (e = tables[i].table; e->name; e++) {
			entry = param_of_entry(e);
			if (!visit(tables[i].prefix, &entry, fn, arg))
				return;
		}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/*
 * Takes the next word off *line and removes its quotes, in place. Returns NULL if there is none.
 * Sets *closed to false if a quote is not closed.
 */
static char *next_word(char **line, bool *closed)
{
	char *from = *line, *to, *word;
	bool quoted = false;

	while (is_blank(*from))
		from++;
	word = to = from;
	for (; *from && (quoted || !is_blank(*from)); from++) {
		if (*from == '"')
			quoted = !quoted;
		else
			*to++ = *from;
	}
	*line = *from ? from + 1 : from;
	*closed = !quoted;
	if (word == from)
		return NULL;
	*to = '\0';
	return word;
}

static bool is_image_path(const char *word)
{
	size_t len = strlen(word);

	return !strchr(word, '=') &&
	       (word[0] == '/' || (len >= 4 && !strcmp(word + len - 4, ".elf")));
}

const char *param_parse_line(char *cmdline, char *err, size_t errsize)
{
	bool closed, first = true;
	char *word, *value;

	for (; (word = next_word(&cmdline, &closed)); first = false) {
		if (!closed) {
			snprintf(err, errsize, "%s: the quote is not closed", word);
			return err;
		}
		if (first && is_image_path(word))
			continue;
		value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		if (param_assign(word, value, err, errsize))
			return err;
	}
	return NULL;
}
