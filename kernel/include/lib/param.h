/*
 * Boot parameters and tunables: named variables, set on the kernel command line and, later, by
 * writing to /proc/sys. How they are found and checked: lib/param.c.
 *
 * A parameter is declared beside the variable that it sets, anywhere in the kernel:
 *
 *	static u32 swappiness = 60;
 *	PARAM_U32("vm.swappiness", swappiness, 0, 100, "%", "how soon anonymous memory is taken");
 */
#ifndef LIB_PARAM_H
#define LIB_PARAM_H

#include "types.h"

/* A number that a policy or a guard lets itself be tuned by. Tables end with a NULL name. */
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
	bool at_boot; /* param_set refuses it: it has taken effect for good */
	union {
		void *value; /* u32 *, bool *, u64 * or char * */
		const char *(*parse)(const char *text); /* CALL: NULL, or what is wrong */
	};
	u64 min, max; /* U32, SIZE: inclusive; STR: max is the size of the array */
	void (*changed)(void); /* U32: it has been set; NULL: it is enough that the variable is */
	/* CALL: writes the valid values, "a|b|c", and the value in force; either may be NULL */
	void (*list)(char *buf, size_t size);
	void (*show)(char *buf, size_t size);
};

/* Explicit alignment: else the compiler may pad between the entries of the section. */
#define PARAM_ENTRY(var)                                                                           \
	static const struct param var __attribute__((used, no_reorder, section(".params"),         \
						     aligned(__alignof__(struct param))))
#define PARAM_JOIN2(a, b) a##b
#define PARAM_JOIN(a, b) PARAM_JOIN2(a, b)
#define PARAM_VAR PARAM_JOIN(param_entry_, __LINE__)

/* Compiles to &var, and only if var has this type. */
#define PARAM_TYPED(type, var) (1 ? &(var) : (type *)0)

/*
 * After the help of each may follow AT_BOOT: only the command line sets it; or .changed.
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

/* A string, copied into the char array var; one that does not fit is refused. */
#define PARAM_STR(pname, var, phelp, ...)                                                          \
	PARAM_ENTRY(PARAM_VAR) = { .name = (pname),                                                \
				   .help = (phelp),                                                \
				   .type = PARAM_T_STR,                                            \
				   .value = (var),                                                 \
				   .max = sizeof(var),                                             \
				   ##__VA_ARGS__ }

/*
 * Whatever parse_fn(text) makes of it: NULL, or a message that says what is wrong with the text.
 * list_fn(buf, size) writes the valid values for messages and documents ("none|token"), show_fn
 * the value in force; either may be NULL. PARAM_ENUM is the same for a choice among names.
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
 * not copied. 0; -EEXIST: the prefix is taken; -ENOSPC: too many tables.
 */
int param_register(const char *prefix, const struct vm_param *table);

/*
 * Obeys a command line: words separated by blanks, each name=value; a value, or the whole word,
 * may stand in double quotes and then contain blanks (run="thrash 4 8192"). Of a boolean the name
 * alone will do. The first word is skipped when it is a loader's path of the image: no "=", and
 * it begins with "/" or ends in ".elf".
 *
 * Takes effect word by word, and stops at the first word it refuses. The line is cut up in
 * place. Returns NULL, or err, which then says what was wrong and what would be valid.
 */
const char *param_parse_line(char *cmdline, char *err, size_t errsize);

/* Sets one parameter; a newline at the end of the text is ignored. 0; -ENOENT: no such name;
 * -EINVAL: not a valid value. Then err (errsize 0: none) says more. */
int param_set(const char *name, const char *text, char *err, size_t errsize);
/* Its value as text, without newline. Returns the length, cut to size - 1, or -ENOENT. */
int param_get(const char *name, char *buf, size_t size);

/* What a parameter looks like to /proc and to the documents. */
struct param_info {
	char name[48];
	char values[160]; /* what is valid: "0..100 %", "on|off", "fifo|clock|2q" */
	const char *help;
};

/* Calls fn for every parameter, declared ones first; stops when it returns false. */
void param_for_each(bool (*fn)(const struct param_info *info, void *arg), void *arg);

#endif
