/*
 * The shell's reading half: a line into tokens, tokens into commands. Included by sh.c only; a
 * header because a program is linked from one source file. All strings of a line live in one arena
 * that is emptied before the next line.
 */
#ifndef USER_SH_WORDS_H
#define USER_SH_WORDS_H

#include "lib.h"

enum {
	MAX_LINE = 4096,
	MAX_TOKENS = 512,
	MAX_WORDS = 256,
	MAX_REDIRECTIONS = 8,
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

static struct token tokens[MAX_TOKENS];
static char arena[4 * MAX_LINE];
static size_t arena_used;
static int last_status, script_argc;
static char **script_argv;

static bool arena_add(char c)
{
	if (arena_used == sizeof(arena))
		return false;
	arena[arena_used++] = c;
	return true;
}

static int error(const char *what, const char *why)
{
	dprintf(2, "sh: %s: %s\n", what, why);
	return 1;
}

/* The length of the raw word at @p with its quotes; -1 when a quote is not closed. */
static int word_length(const char *p)
{
	const char *start = p;
	char quote = '\0';

	for (; *p && (quote || !strchr(" \t\r|&;<>", *p)); p++) {
		if (*p == '\\' && quote != '\'' && p[1])
			p++;
		else if (*p == quote)
			quote = '\0';
		else if (!quote && (*p == '"' || *p == '\''))
			quote = *p;
	}
	return quote ? -1 : p - start;
}

static bool is_operator(const char **p, struct token *token)
{
	static const struct {
		const char *text;
		enum kind kind;
	} operators[] = {
		{ "2>&1", ERRORS_TO_OUTPUT },
		{ "2>", ERRORS },
		{ "&&", AND },
		{ "||", OR },
		{ ">>", APPEND },
		{ "<", INPUT },
		{ ">", OUTPUT },
		{ "|", PIPE },
		{ "&", BACKGROUND },
		{ ";", SEMICOLON },
	};

	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (strncmp(*p, operators[i].text, strlen(operators[i].text)))
			continue;
		token->kind = operators[i].kind;
		token->text = (char *)operators[i].text;
		*p += strlen(operators[i].text);
		return true;
	}
	return false;
}

/* Cut @line into tokens[], closed by END. Returns false after a message when it cannot be read. */
static bool tokenize(const char *line)
{
	int nr = 0, len;

	for (;; nr++) {
		struct token *token = &tokens[nr];

		line += strspn(line, " \t\r");
		*token = (struct token){ END, "end of line" };
		if (!*line || *line == '#')
			return true;
		if (nr == MAX_TOKENS - 1)
			return error("line", "too many words"), false;
		if (is_operator(&line, token))
			continue;
		len = word_length(line);
		if (len < 0)
			return error("syntax error", "a quote is not closed"), false;
		token->kind = WORD;
		token->text = &arena[arena_used];
		for (int i = 0; i < len; i++)
			arena_add(line[i]);
		if (!arena_add('\0'))
			return error("line", "too long"), false;
		line += len;
	}
}

static bool is_redirection(enum kind kind)
{
	return kind == INPUT || kind == OUTPUT || kind == APPEND || kind == ERRORS;
}

/* Every redirection needs its file, and every operator that joins needs a command on both sides. */
static bool check_syntax(void)
{
	bool have_command = false, must_follow = false;
	const struct token *t = tokens;

	for (;; t++) {
		if (is_redirection(t->kind)) {
			if (t[1].kind != WORD)
				return error("syntax error near", t[1].text), false;
			t++;
		}
		if (t->kind == WORD || t->kind == ERRORS_TO_OUTPUT) {
			have_command = true;
			continue;
		}
		if (!have_command && (t->kind != END || must_follow))
			return error("syntax error near", t->text), false;
		if (t->kind == END)
			return true;
		have_command = false;
		must_follow = t->kind == PIPE || t->kind == AND || t->kind == OR;
	}
}

/*
 * Append the value of the variable whose name starts at *p, behind the $, and move *p past the
 * name.
 */
static bool expand_variable(const char **p)
{
	char name[64], number[16];
	const char *value, *end = *p;
	bool braces = *end == '{';

	if (braces)
		end = ++*p;
	if (*end && strchr("?$#0123456789", *end))
		end++;
	else
		while (isalnum((unsigned char)*end) || *end == '_')
			end++;
	snprintf(name, sizeof(name), "%.*s", (int)(end - *p), *p);
	*p = end + (braces && *end == '}');
	value = name[0] ? getenv(name) : "$";
	if (isdigit((unsigned char)name[0])) {
		value = atoi(name) < script_argc ? script_argv[atoi(name)] : "";
	} else if (name[0] && strchr("?$#", name[0])) {
		int n = name[0] == '?' ? last_status : name[0] == '$' ? getpid() : script_argc - 1;

		snprintf(number, sizeof(number), "%d", n);
		value = number;
	}
	while (value && *value) {
		if (!arena_add(*value++))
			return false;
	}
	return true;
}

/*
 * A raw word without its quotes and with its variables; NULL after a message when the arena is
 * full.
 */
static char *expand(const char *p)
{
	char *word = &arena[arena_used], quote = '\0';
	bool ok = true;

	while (*p && ok) {
		char c = *p++;

		if (c == quote)
			quote = '\0';
		else if (!quote && (c == '"' || c == '\''))
			quote = c;
		else if (c == '$' && quote != '\'')
			ok = expand_variable(&p);
		else if (c == '\\' && *p && (!quote || (quote == '"' && strchr("\"\\$", *p))))
			ok = arena_add(*p++);
		else
			ok = arena_add(c);
	}
	if (ok && arena_add('\0'))
		return word;
	error("line", "too long");
	return NULL;
}

/*
 * Expand the tokens from @t up to the next operator into @command. Returns that operator, or NULL
 * after a message.
 */
static struct token *prepare_command(struct token *t, struct command *command)
{
	command->argc = command->nr_redirections = 0;
	for (; t->kind < PIPE; t++) {
		struct redirection *r = &command->redirections[command->nr_redirections];

		if (t->kind == WORD ? command->argc == MAX_WORDS
				    : command->nr_redirections == MAX_REDIRECTIONS)
			return error("command", "too many words"), NULL;
		if (t->kind == WORD) {
			command->argv[command->argc] = expand(t->text);
			if (!command->argv[command->argc++])
				return NULL;
			continue;
		}
		command->nr_redirections++;
		r->kind = t->kind;
		if (t->kind == ERRORS_TO_OUTPUT)
			continue;
		r->path = expand((++t)->text);
		if (!r->path)
			return NULL;
	}
	command->argv[command->argc] = NULL;
	return t;
}

#endif
