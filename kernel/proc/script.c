/* Scripts: the line "#! interpreter [argument]" of a file, and the interpreter's arguments. */
#include "errno.h"
#include "internal.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "fs/vfs.h"

static char *skip_blanks(char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* Splits "#! interpreter [argument]" in place. */
static int parse_script(char *line, size_t n, char **interpreter, char **arg)
{
	char *end = memchr(line, '\n', MIN(n, (size_t)PATH_MAX)), *p = line + 2;

	if (!end)
		return -ENOEXEC;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	*end = '\0';
	p = skip_blanks(p);
	*interpreter = p;
	while (*p && *p != ' ' && *p != '\t')
		p++;
	*arg = NULL;
	if (*p) {
		*p++ = '\0';
		*arg = skip_blanks(p);
	}
	return **interpreter ? 0 : -ENOEXEC;
}

/* Inserts a string before all others, as new argument 0. drop: it replaces the old argument 0. */
static int push_front(struct exec_args *args, const char *s, bool drop)
{
	u32 n = strlen(s) + 1, skip = 0;
	int err;

	drop = drop && args->argc;
	if (drop)
		skip = strlen(args->buf) + 1;
	while (args->used - skip + n > args->size) {
		err = args_grow(args, args->size * 2);
		if (err)
			return err;
	}
	memmove(args->buf + n, args->buf + skip, args->used - skip);
	memmove(args->buf, s, n);
	args->used += n - skip;
	args->argc += !drop;
	return 0;
}

/* Changes the arguments to: interpreter [argument] path old-arguments-after-the-first. */
static int script_args(char *head, size_t n, struct exec_args *args, const char *path,
		       char **interpreter)
{
	char *arg;
	int err = parse_script(head, n, interpreter, &arg);

	if (!err)
		err = push_front(args, path, true);
	if (!err && arg)
		err = push_front(args, arg, false);
	return err ? err : push_front(args, *interpreter, false);
}

static void script_init(void)
{
	exec_script = script_args;
}

AT_STAGE(first, 50, script_init);
