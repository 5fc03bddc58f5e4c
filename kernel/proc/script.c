/*
 * Scripts: the line "#! interpreter [argument]" of a file, and the interpreter's arguments. The
 * interpreter may be a script, too, as long as no more than MAX_SCRIPTS are involved.
 */
#include "errno.h"
#include "internal.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "fs/vfs.h"

#define MAX_SCRIPTS 5u /* as on Linux */

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

	if (!end && n < PATH_MAX) /* the last line of a file, without a newline */
		end = line + n;
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

/* Changes the arguments to: interpreter [argument] path old-arguments-after-the-first. path is NULL
 * for the interpreter of an interpreter: the first of the old arguments is its path. */
static int script_args(char *head, size_t n, struct exec_args *args, const char *path,
		       char **interpreter)
{
	char *arg;
	int err = parse_script(head, n, interpreter, &arg);

	if (!err && path)
		err = push_front(args, path, true);
	if (!err && arg)
		err = push_front(args, arg, false);
	return err ? err : push_front(args, *interpreter, false);
}

/* Opens the interpreter of a script in its place. */
static int use_interpreter(struct program *p, struct exec_args *args, const char *path)
{
	struct program interpreter;
	char *name;
	int err = script_args(p->head, p->n, args, path, &name);

	if (err)
		return err;
	err = program_open(&interpreter, name);
	program_close(p);
	*p = interpreter;
	return err;
}

static int replace_scripts(struct program *p, struct exec_args *args, const char *path)
{
	int err = 0;

	for (u32 nr = 0; !err && p->n >= 2 && p->head[0] == '#' && p->head[1] == '!'; nr++)
		err = nr < MAX_SCRIPTS ? use_interpreter(p, args, nr ? NULL : path) : -ELOOP;
	return err;
}

static void script_init(void)
{
	exec_script = replace_scripts;
}

AT_STAGE(first, 50, script_init);
