/*
 * What the files of the shell share. A line goes through them in this order:
 *
 *	main.c     reads a line, and runs it
 *	words.c    the line into tokens
 *	syntax.c   may these tokens follow each other?
 *	run.c      lists and pipelines, what is forked, and `time`
 *	expand.c   a command's tokens into its words: quotes off, variables in
 *	builtins.c commands that the shell does itself
 *	jobs.c     which children belong to which pipeline, and how each one ended
 */
#ifndef USER_SH_H
#define USER_SH_H

#include "lib.h"

#define HELP                                                                                       \
	"usage: sh [-i] [-c COMMAND | [-v] FILE [ARG...]]\n"                                       \
	"-v: as if FILE were typed: each line is shown before it runs, and read on by programs.\n" \
	"A small shell: words, 'quotes', \"quotes\", \\, # comments, $NAME ${NAME} $? $$,\n"       \
	"a | b, < > >> 2> 2>&1, a && b, a || b, a; b, a & and time a.\n"

enum {
	MAX_LINE = 4096,
	MAX_WORDS = 256,
	MAX_REDIRECTIONS = 8,
	MAX_JOBS = 16,
	MAX_STAGES = 16,
};

/* In this order: what belongs to a command, then what ends one. */
enum kind {
	WORD,
	INPUT,
	OUTPUT,
	APPEND,
	ERRORS,
	ERRORS_TO_OUTPUT,
	PIPE,
	AND,
	OR,
	SEMICOLON,
	BACKGROUND,
	END
};

struct token {
	enum kind kind;
	char *text;
};

struct redirection {
	enum kind kind;
	char *path;
};

struct command {
	int argc, nr_redirections;
	char *argv[MAX_WORDS + 1];
	struct redirection redirections[MAX_REDIRECTIONS];
};

/* A free slot has nr_running 0. The status of a job is the one of its last stage. */
struct job {
	int nr_stages, nr_running, status;
	bool background;
	bool timed; /* pids[0] is a shell that runs the pipeline, in its process group */
	pid_t pids[MAX_STAGES];
	char text[64];
};

/* main.c */

/* $? */
extern int last_status;
/* $0, $1 and so on, and their number. */
extern int script_argc;
extern char **script_argv;
/* Does somebody type? Then each job has a process group of its own. */
extern bool interactive;

/* "sh: what: why" on stderr. Returns 1. */
int error(const char *what, const char *why);

/* words.c */

/*
 * All strings of a line live in one arena, which tokenize() empties. Returns false when it is full.
 */
bool arena_add(char c);
/* Where the next string will begin. */
char *arena_end(void);

/* Cut @line into tokens, closed by END. Returns NULL after a message when it cannot be read. */
struct token *tokenize(const char *line);

/* syntax.c */

/* False after a message when the tokens make no list of commands. */
bool check_syntax(const struct token *t);

/* expand.c */

/*
 * Expand the tokens from @t up to the next operator into @command. Returns that operator, or NULL
 * after a message.
 */
struct token *prepare_command(struct token *t, struct command *command);

/* builtins.c */

typedef int builtin_fn(int argc, char **argv);

/* NULL: the shell does not do this itself. */
builtin_fn *find_builtin(const char *name);

/* run.c */

void run_list(struct token *t);

/* jobs.c */

extern struct job jobs[MAX_JOBS];

/*
 * Wait for one child, or with WNOHANG only look, and note its end in its job. Returns false when
 * there is none.
 */
bool reap_child(int options);

/* Both return the job's status. The second gives it the terminal meanwhile. */
int job_wait(struct job *job);
int job_foreground(struct job *job);

/* An empty one; NULL when there are too many. */
struct job *job_new(void);

/* The job named %N, or the last one started when @name is NULL; NULL after a message. */
struct job *job_named(const char *name);

/* Keep the text of the pipeline that begins at @t, for `jobs` and `fg` to show. */
void job_describe(struct job *job, const struct token *t);

#endif
