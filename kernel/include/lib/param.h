/*
 * Boot parameters and tunables: named variables, set on the kernel command line and, later, by
 * writing to /proc/sys. How they are found and checked: lib/param.c.
 *
 * A parameter is declared next to its variable, in any file of the kernel:
 *
 *	static u32 swappiness = 60;
 *	PARAM_U32("vm.swappiness", swappiness, 0, 100, "%", "how soon anonymous memory is taken");
 */
#ifndef LIB_PARAM_H
#define LIB_PARAM_H

#include "types.h"

/* A tunable number of a policy or a guard. Tables end with a NULL name. */
struct vm_param {
	const char *name;
	u32 *value;
	u32 min, max;
	const char *unit; /* "ms", "pages", "%", ...; may be NULL */
	const char *help;
};

enum param_type { PARAM_T_U32, PARAM_T_BOOL, PARAM_T_SIZE, PARAM_T_STR, PARAM_T_CALL };

struct param {
	const char *name; /* may contain dots */
	const char *help;
	const char *unit; /* may be NULL */
	enum param_type type;
	bool at_boot; /* param_set refuses it: it is only read at boot */
	union {
		void *value; /* u32 *, bool *, u64 * or char * */
		const char *(*parse)(const char *text); /* CALL: returns NULL or an error message */
	};
	u64 min, max; /* U32, SIZE: inclusive; STR: max is the size of the array */
	void (*changed)(void); /* U32: called after it was set, or NULL */
	/* CALL: write the valid values, "a|b|c", and the current value; either may be NULL */
	void (*list)(char *buf, size_t size);
	void (*show)(char *buf, size_t size);
};

/* Explicit alignment: otherwise the compiler may pad between the entries of the section. */
#define PARAM_ENTRY(var)                                                                           \
	static const struct param var __attribute__((used, no_reorder, section(".params"),         \
						     aligned(__alignof__(struct param))))
#define PARAM_JOIN2(a, b) a##b
#define PARAM_JOIN(a, b) PARAM_JOIN2(a, b)
#define PARAM_VAR PARAM_JOIN(param_entry_, __LINE__)

/* Compiles to &var, but only if var has this type. */
#define PARAM_TYPED(type, var) (1 ? &(var) : (type *)0)

/*
 * After the help text may follow AT_BOOT (only the command line sets it) or .changed.
 */
#define AT_BOOT .at_boot = true

/* A u32 in [min, max]. */
#define PARAM_U32(pname, var, lo, hi, punit, phelp, ...)                                           \
	PARAM_ENTRY(PARAM_VAR) = { .name = (pname),                                                \
				   .help = (phelp),                                                \
				   .unit = (punit),                                                \
				   .type = PARAM_T_U32,                                            \
				   .value = PARAM_TYPED(u32, var),                                 \
				   .min = (lo),                                                    \
				   .max = (hi),                                                    \
				   ##__VA_ARGS__ }

/* A bool: 1 y yes on true, 0 n no off false; the bare name means true. */
#define PARAM_BOOL(pname, var, phelp, ...)                                                         \
	PARAM_ENTRY(PARAM_VAR) = { .name = (pname),                                                \
				   .help = (phelp),                                                \
				   .type = PARAM_T_BOOL,                                           \
				   .value = PARAM_TYPED(bool, var),                                \
				   .max = 1,                                                       \
				   ##__VA_ARGS__ }

/* A u64 of bytes in [min, max], written with an optional suffix K, M or G. */
#define PARAM_SIZE(pname, var, lo, hi, phelp, ...)                                                 \
	PARAM_ENTRY(PARAM_VAR) = { .name = (pname),                                                \
				   .help = (phelp),                                                \
				   .unit = "bytes",                                                \
				   .type = PARAM_T_SIZE,                                           \
				   .value = PARAM_TYPED(u64, var),                                 \
				   .min = (lo),                                                    \
				   .max = (hi),                                                    \
				   ##__VA_ARGS__ }

/* A string, copied into the char array var. A string that does not fit is refused. */
#define PARAM_STR(pname, var, phelp, ...)                                                          \
	PARAM_ENTRY(PARAM_VAR) = { .name = (pname),                                                \
				   .help = (phelp),                                                \
				   .type = PARAM_T_STR,                                            \
				   .value = (var),                                                 \
				   .max = sizeof(var),                                             \
				   ##__VA_ARGS__ }

/*
 * A value that parse_fn(text) handles: it returns NULL, or an error message. list_fn(buf, size)
 * writes the valid values for messages and documents ("none|token"), show_fn the current value;
 * either may be NULL. PARAM_ENUM is the same for a choice among names.
 */
#define PARAM_CALL(pname, parse_fn, list_fn, show_fn, phelp, ...)                                  \
	PARAM_ENTRY(PARAM_VAR) = { .name = (pname),                                                \
				   .help = (phelp),                                                \
				   .type = PARAM_T_CALL,                                           \
				   .parse = (parse_fn),                                            \
				   .list = (list_fn),                                              \
				   .show = (show_fn),                                              \
				   ##__VA_ARGS__ }
#define PARAM_ENUM PARAM_CALL

/*
 * Adds a table under a prefix: its entry "tau_ms" becomes "ws.tau_ms". Table and prefix are kept,
 * not copied. Returns 0, -EEXIST if the prefix is taken, or -ENOSPC if there are too many tables.
 */
int param_register(const char *prefix, const struct vm_param *table);

/*
 * Parses a command line: words separated by blanks, each name=value. A value, or the whole word,
 * may stand in double quotes and then contain blanks (run="thrash 4 8192"). A boolean may be given
 * by its name alone. The first word is skipped if it is a boot loader's image path: no "=", and it
 * begins with "/" or ends in ".elf".
 *
 * Each word takes effect at once. Parsing stops at the first invalid word. The line is modified in
 * place. Returns NULL, or err with a message that names the error and the valid values.
 */
const char *param_parse_line(char *cmdline, char *err, size_t errsize);

/* Sets one parameter. A newline at the end of the text is ignored. Returns 0, -ENOENT for an
 * unknown name, or -EINVAL for an invalid value. Then err holds a message, unless errsize is 0. */
int param_set(const char *name, const char *text, char *err, size_t errsize);
/* Writes the value as text, without newline. Returns the length, cut to size - 1, or -ENOENT. */
int param_get(const char *name, char *buf, size_t size);

/* A parameter as /proc and the documents show it. */
struct param_info {
	char name[48];
	char values[400]; /* what is valid: "0..100 %", "on|off", "fifo|clock|2q" */
	const char *help;
};

/* Calls fn for every parameter, declared ones first. Stops when fn returns false. */
void param_for_each(bool (*fn)(const struct param_info *info, void *arg), void *arg);

#endif
