/*
 * sh: a small shell.
 *
 *	list     = pipeline { ( ";" | "&" | "&&" | "||" ) pipeline }
 *	pipeline = [ "time" ] command { "|" command }
 *	command  = { word | "<" word | ">" word | ">>" word | "2>" word | "2>&1" }
 *
 * A line passes three stages. tokenize() splits it into tokens and leaves quotes and $ inside the
 * words unchanged. run_list() walks over the pipelines and decides by the last status which of them
 * to run. Only then, command by command, prepare_command() removes the quotes and inserts
 * variables, so that "false; echo $?" sees the status of the first pipeline.
 *
 * Every pipeline is a job. An interactive shell gives each job its own process group and gives the
 * terminal to the foreground job, so that ^C reaches only that job.
 *
 * Left out: functions, loops, globbing, here-documents, word splitting after expansion, stopping
 * jobs with ^Z, and variables that are not exported (every variable is part of the environment).
 */
#include "sh.h"

/* -v: the lines of a file are shown as if typed at a prompt. */
static bool shown;

static void run_line(const char *line)
{
	struct token *tokens = tokenize(line);

	if (tokens && check_syntax(tokens))
		run_list(tokens);
	else
		last_status = 2;
	while (reap_child(WNOHANG))
		;
}

/* Run the input from @fd or, if it is negative, from @text, line by line. */
static void run_lines(int fd, const char *text)
{
	static char line[MAX_LINE];
	size_t len = 0;
	bool more = true;
	char c;

	while (more) {
		if ((interactive || shown) && !len)
			dprintf(1, "tidemark$ ");
		/*
		 * Byte by byte: input after the line belongs to the command that the line starts.
		 */
		more = fd >= 0 ? read(fd, &c, 1) == 1 : (c = *text++) != '\0';
		if (more && c != '\n') {
			if (len < sizeof(line) - 1)
				line[len++] = c;
			continue;
		}
		line[len] = '\0';
		if (shown && (more || len))
			dprintf(1, "%s\n", line);
		if (len == sizeof(line) - 1)
			last_status = error("line", "too long");
		else
			run_line(line);
		len = 0;
	}
}

/* Creates a process group in the foreground that no key ends or stops. */
static void take_terminal(void)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTTOU, SIGTTIN, SIGTSTP };

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	setpgid(0, 0);
	tcsetpgrp(0, getpgrp());
}

int main(int argc, char **argv)
{
	int fd = 0;

	help_if_asked(argc, argv, HELP);
	if (argc > 2 && !strcmp(argv[1], "-c")) {
		script_argc = argc - 2;
		script_argv = argv + 2;
		run_lines(-1, argv[2]);
		return last_status;
	}
	script_argc = 1;
	script_argv = argv;
	shown = argc > 2 && !strcmp(argv[1], "-v");
	argc -= shown;
	argv += shown;
	interactive = argc > 1 ? !strcmp(argv[1], "-i") : isatty(0);
	if (argc > 1 && !interactive) {
		fd = open(argv[1], O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return error(argv[1], strerror(errno)), 127;
		script_argc = argc - 1;
		script_argv = argv + 1;
		if (shown)
			fd = dup2(fd, 0);
	}
	if (interactive)
		take_terminal();
	run_lines(fd, NULL);
	if (interactive || shown)
		dprintf(1, "\n");
	return last_status;
}
