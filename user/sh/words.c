/* Splits a line into tokens. Quotes and $ stay inside the words: expand.c needs them. */
#include "sh.h"

enum { MAX_TOKENS = 512 };

static struct token tokens[MAX_TOKENS];
static char arena[4 * MAX_LINE];
static size_t arena_used;

bool arena_add(char c)
{
	if (arena_used == sizeof(arena))
		return false;
	arena[arena_used++] = c;
	return true;
}

char *arena_end(void)
{
	return &arena[arena_used];
}

/* Returns the length of the raw word at @p with its quotes, or -1 if a quote is not closed. */
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

/* Takes the next @len characters of @line as a word. */
static bool take_word(struct token *token, const char *line, int len)
{
	token->kind = WORD;
	token->text = arena_end();
	for (int i = 0; i < len; i++)
		arena_add(line[i]);
	return arena_add('\0');
}

struct token *tokenize(const char *line)
{
	arena_used = 0;
	for (struct token *token = tokens;; token++) {
		int len;

		line += strspn(line, " \t\r");
		*token = (struct token){ END, "end of line" };
		if (!*line || *line == '#')
			return tokens;
		if (token == &tokens[MAX_TOKENS - 1])
			return error("line", "too many words"), NULL;
		if (is_operator(&line, token))
			continue;
		len = word_length(line);
		if (len < 0)
			return error("syntax error", "a quote is not closed"), NULL;
		if (!take_word(token, line, len))
			return error("line", "too long"), NULL;
		line += len;
	}
}
