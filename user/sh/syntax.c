/* Every redirection needs its file, and every joining operator needs a command on both sides. */
#include "sh.h"

static bool is_redirection(enum kind kind)
{
	return kind == INPUT || kind == OUTPUT || kind == APPEND || kind == ERRORS;
}

bool check_syntax(const struct token *t)
{
	bool have_command = false, must_follow = false;

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
