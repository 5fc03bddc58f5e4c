/*
 * Shared by the files of the shell. A line passes through them in this order; all of them use state.c, which
 * has $?, the script's arguments and error messages:
 *
 *	main.c     reads a line, and runs it
 *	words.c    splits the line into tokens
 *	syntax.c   may these tokens follow each other?
 *	run.c      lists and pipelines, forking, and `time`
 *	expand.c   a command's tokens into its words: removes quotes, inserts variables
 *	builtins.c commands that the shell runs itself
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

/* First the tokens that belong to a command, then those that end one. */
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

/* A free slot has nr_running 0. A job's status is that of its last stage. */
struct job {
	int nr_stages, nr_running, status;
	bool background;
	bool timed; /* pids[0] is a shell that runs the pipeline, in its process group */
	pid_t pids[MAX_STAGES];
	char text[64];
};

/* state.c */

/* $? */
extern int last_status;
/* $0, $1 and so on, and their number. */
extern int script_argc;
extern char **script_argv;
/* Is there an interactive user? Then each job has its own process group. */
extern bool interactive;

/* Prints "sh: what: why" on stderr. Returns 1. */
int error(const char *what, const char *why);

/* words.c */

/*
 * All strings of a line are in one arena, which tokenize() empties. Returns false if it is full.
 */
bool arena_add(char c);
/* Returns the place of the next string. */
char *arena_end(void);

/* Split @line into tokens, terminated by END. Returns NULL after a message if it is invalid. */
struct token *tokenize(const char *line);

/* syntax.c */

/* Returns false after a message if the tokens are not a list of commands. */
bool check_syntax(const struct token *t);

/* expand.c */

/*
 * Expand the tokens from @t up to the next operator into @command. Returns that operator, or NULL
 * after a message.
 */
struct token *prepare_command(struct token *t, struct command *command);

/* builtins.c */

typedef int builtin_fn(int argc, char **argv);

/* Returns NULL if it is not a built-in command. */
builtin_fn *find_builtin(const char *name);

/* run.c */

void run_list(struct token *t);

/* jobs.c */

extern struct job jobs[MAX_JOBS];

/*
 * Wait for one child, or with WNOHANG only check, and record its end in its job. Returns false if
 * there is none.
 */
bool reap_child(int options);

/* Both return the job's status. job_foreground gives the job the terminal meanwhile. */
int job_wait(struct job *job);
int job_foreground(struct job *job);

/* Returns an empty job, or NULL if there are too many. */
struct job *job_new(void);

/* Returns the job named %N, or the last one started if @name is NULL; NULL after a message. */
struct job *job_named(const char *name);

/* Save the text of the pipeline that begins at @t, for display by `jobs` and `fg`. */
void job_describe(struct job *job, const struct token *t);

#endif
