/* Turns a command's tokens into its words: removes quotes, inserts variables. */
#include "sh.h"

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
 * Returns a raw word without its quotes and with its variables expanded, or NULL after a message if
 * the arena is full.
 */
static char *expand(const char *p)
{
	char *word = arena_end(), quote = '\0';
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

struct token *prepare_command(struct token *t, struct command *command)
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
