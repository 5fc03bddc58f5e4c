/*
 * sh: a small shell.
 *
 *	list     = pipeline { ( ";" | "&" | "&&" | "||" ) pipeline }
 *	pipeline = [ "time" ] command { "|" command }
 *	command  = { word | "<" word | ">" word | ">>" word | "2>" word | "2>&1" }
 *
 * A line passes three stages. tokenize() cuts it into tokens and leaves quotes and $ inside the
 * words alone. run_list() walks over the pipelines and decides from the last status which of them
 * run. Only then, command by command, expand() takes the quotes off and puts variables in, so that
 * "false; echo $?" sees what the first pipeline left behind.
 *
 * Every pipeline is a job. An interactive shell gives each job a process group of its own and hands
 * the terminal to the one in the foreground, so that ^C reaches that job and nobody else.
 *
 * Left out: functions, loops, globbing, here-documents, splitting of expanded words, stopping jobs
 * with ^Z, and variables that are not exported (every variable is part of the environment).
 */
#include "lib.h"
#include "sh_words.h"
#include "sh_jobs.h"
#include <sys/resource.h>

#define HELP                                                                                       \
	"usage: sh [-i] [-c COMMAND | [-v] FILE [ARG...]]\n"                                       \
	"-v: as if FILE were typed: each line is shown before it runs, and read on by programs.\n" \
	"A small shell: words, 'quotes', \"quotes\", \\, # comments, $NAME ${NAME} $? $$,\n"       \
	"a | b, < > >> 2> 2>&1, a && b, a || b, a; b, a & and time a.\n"

#define BUILTIN_HELP                                                                               \
	"cd [DIR]  exit [N]  export NAME=VALUE  help  jobs  fg [%N]  wait [%N]\n"                  \
	"kill [-SIG] PID|%N...  poweroff  time COMMAND  NAME=VALUE\n"                              \
	"Programs are in /bin; each answers --help.\n"

enum { SAVED_FD = 20 };

/* -v: the lines of a file look as if they were typed at a prompt. */
static bool shown;

typedef int builtin_fn(int argc, char **argv);

static bool redirect(const struct command *command)
{
	for (int i = 0; i < command->nr_redirections; i++) {
		const struct redirection *r = &command->redirections[i];
		int flags = r->kind == INPUT
				    ? O_RDONLY
				    : O_WRONLY | O_CREAT | (r->kind == APPEND ? O_APPEND : O_TRUNC);
		int target = r->kind == INPUT                                   ? 0
			     : r->kind == ERRORS || r->kind == ERRORS_TO_OUTPUT ? 2
										: 1;
		int fd = r->kind == ERRORS_TO_OUTPUT ? 1 : open(r->path, flags, 0666);

		if (fd < 0)
			return error(r->path, strerror(errno)), false;
		if (fd != target)
			dup2(fd, target);
		if (fd > 2)
			close(fd);
	}
	return true;
}

/* Built-in commands */

static int builtin_cd(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : getenv("HOME");

	if (!path)
		path = "/";
	return chdir(path) ? error(path, strerror(errno)) : 0;
}

static int builtin_exit(int argc, char **argv)
{
	exit(argc > 1 ? atoi(argv[1]) : last_status);
}

/* Also serves plain NAME=VALUE words, which must be all of the command. */
static int builtin_export(int argc, char **argv)
{
	bool named = !strcmp(argv[0], "export");

	for (int i = named; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value && !named)
			return error(argv[i], "a variable cannot be set for one command");
		if (!value)
			continue;
		*value++ = '\0';
		if (setenv(argv[i], value, 1))
			return error(argv[i], strerror(errno));
	}
	return 0;
}

static int builtin_help(int argc, char **argv)
{
	(void)argc, (void)argv;
	dprintf(1, "%s%s", HELP, BUILTIN_HELP);
	return 0;
}

static int builtin_jobs(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (int i = 0; i < MAX_JOBS; i++) {
		if (jobs[i].nr_running)
			dprintf(1, "[%d] Running  %s\n", i + 1, jobs[i].text);
	}
	return 0;
}

static int builtin_fg(int argc, char **argv)
{
	struct job *job = job_named(argc > 1 ? argv[1] : NULL);

	if (!job)
		return 1;
	dprintf(1, "%s\n", job->text);
	kill(-job->pids[0], SIGCONT);
	return job_foreground(job);
}

static int builtin_wait(int argc, char **argv)
{
	struct job *job;

	if (argc > 1) {
		job = job_named(argv[1]);
		return job ? job_wait(job) : 127;
	}
	while (reap_child(0))
		;
	return 0;
}

static int builtin_kill(int argc, char **argv)
{
	int first = 1, signal = SIGTERM, status = 0;

	if (argc > 1 && argv[1][0] == '-')
		signal = signal_number(argv[first++] + 1);
	if (signal < 0 || first >= argc)
		return error("kill", "usage: kill [-SIG] PID|%N...");
	for (; first < argc; first++) {
		bool is_job = argv[first][0] == '%';
		struct job *job = is_job ? job_named(argv[first]) : NULL;

		if (is_job && !job)
			status = 1;
		for (int i = 0; job && i < job->nr_stages; i++)
			kill(job->pids[i], signal);
		if (!is_job && (!atoi(argv[first]) || kill(atoi(argv[first]), signal)))
			status = error(argv[first], atoi(argv[first]) ? strerror(errno)
								      : "not a process or %job");
	}
	return status;
}

static int builtin_poweroff(int argc, char **argv)
{
	(void)argc, (void)argv;
	power_off(0);
	return error("poweroff", strerror(errno));
}

static builtin_fn *find_builtin(const char *name)
{
	static const struct {
		const char *name;
		builtin_fn *run;
	} table[] = {
		{ "cd", builtin_cd },
		{ "exit", builtin_exit },
		{ "export", builtin_export },
		{ "help", builtin_help },
		{ "jobs", builtin_jobs },
		{ "fg", builtin_fg },
		{ "wait", builtin_wait },
		{ "kill", builtin_kill },
		{ "poweroff", builtin_poweroff },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (!strcmp(name, table[i].name))
			return table[i].run;
	}
	return isalpha((unsigned char)*name) && strchr(name, '=') ? builtin_export : NULL;
}

/* Running */

__attribute__((noreturn)) static void run_child(struct command *command)
{
	/* All that the shell ignores but SIGTSTP: a job that ^Z stopped would keep it waiting. */
	static const int restored[] = { SIGINT, SIGQUIT, SIGTTOU, SIGTTIN };
	builtin_fn *builtin;
	int reason;

	for (size_t i = 0; i < ARRAY_SIZE(restored); i++)
		signal(restored[i], SIG_DFL);
	if (!redirect(command))
		_exit(1);
	if (!command->argc)
		_exit(0);
	builtin = find_builtin(command->argv[0]);
	if (builtin)
		_exit(builtin(command->argc, command->argv));
	execvp(command->argv[0], command->argv);
	reason = errno;
	error(command->argv[0], reason == ENOENT ? "not found" : strerror(reason));
	_exit(reason == ENOENT ? 127 : 126);
}

/*
 * Fork one stage of @job that reads from @in and writes to @out; @unused is the pipe end that is
 * not for it.
 */
static bool start_stage(struct job *job, struct command *command, int in, int out, int unused)
{
	pid_t pid = fork();

	if (pid < 0) {
		error("fork", strerror(errno));
		return false;
	}
	if (!pid) {
		if (interactive) {
			setpgid(0, job->nr_stages ? job->pids[0] : 0);
			if (!job->background)
				tcsetpgrp(0, getpgrp());
		}
		dup2(in, 0);
		dup2(out, 1);
		if (in > 2)
			close(in);
		if (out > 2)
			close(out);
		if (unused > 2)
			close(unused);
		run_child(command);
	}
	job->pids[job->nr_stages++] = pid;
	job->nr_running++;
	/* Parent and child both say it, so that neither depends on who runs first. */
	if (interactive)
		setpgid(pid, job->pids[0]);
	return true;
}

static int run_stages(struct job *job, struct token *t)
{
	static struct command command;
	int ends[2], in = 0;
	bool more = true, started = true;

	while (more && started) {
		t = prepare_command(t, &command);
		more = t && t->kind == PIPE;
		ends[0] = ends[1] = -1;
		started = t && job->nr_stages < MAX_STAGES && (!more || !pipe(ends));
		if (started)
			started = start_stage(job, &command, in, more ? ends[1] : 1, ends[0]);
		else if (t)
			error("pipe",
			      job->nr_stages == MAX_STAGES ? "too many stages" : strerror(errno));
		if (in)
			close(in);
		if (ends[1] >= 0)
			close(ends[1]);
		in = ends[0];
		t++;
	}
	if (!started && in > 0)
		close(in);
	return started ? 0 : 1;
}

/* Run a built-in command in the shell itself, with its redirections undone afterwards. */
static int run_in_shell(struct token *t)
{
	static struct command command;
	int status = 1;

	if (!prepare_command(t, &command))
		return 1;
	for (int fd = 0; fd < 3 && command.nr_redirections; fd++)
		dup2(fd, SAVED_FD + fd);
	if (redirect(&command))
		status = find_builtin(command.argv[0])(command.argc, command.argv);
	for (int fd = 0; fd < 3 && command.nr_redirections; fd++) {
		dup2(SAVED_FD + fd, fd);
		close(SAVED_FD + fd);
	}
	return status;
}

static int run_pipeline(struct token *t, struct token *end)
{
	struct job *job;
	int status;
	bool background = end->kind == BACKGROUND, piped = false;

	for (struct token *p = t; p < end; p++)
		piped |= p->kind == PIPE;
	if (!background && !piped && t->kind == WORD && find_builtin(t->text))
		return run_in_shell(t);
	job = job_new();
	if (!job)
		return error("jobs", "too many");
	job->background = background;
	job_describe(job, t);
	status = run_stages(job, t);
	if (!background && job->nr_stages)
		return job_foreground(job) | status;
	if (interactive && background && !status)
		dprintf(1, "[%d] %d\n", (int)(job - jobs) + 1, (int)job->pids[job->nr_stages - 1]);
	return status;
}

static void print_time(const char *name, long long us)
{
	dprintf(2, "%s %lld.%03llds\n", name, us / 1000000, us / 1000 % 1000);
}

static long long time_us(struct timeval t)
{
	return t.tv_sec * 1000000LL + t.tv_usec;
}

static int run_timed(struct token *t, struct token *end)
{
	struct timespec start, stop;
	struct rusage before, after;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &start);
	getrusage(RUSAGE_CHILDREN, &before);
	status = run_pipeline(t, end);
	getrusage(RUSAGE_CHILDREN, &after);
	clock_gettime(CLOCK_MONOTONIC, &stop);
	print_time("real", (stop.tv_sec - start.tv_sec) * 1000000LL +
				   (stop.tv_nsec - start.tv_nsec) / 1000);
	print_time("user", time_us(after.ru_utime) - time_us(before.ru_utime));
	print_time("sys ", time_us(after.ru_stime) - time_us(before.ru_stime));
	dprintf(2, "faults %ld minor, %ld major\n", after.ru_minflt - before.ru_minflt,
		after.ru_majflt - before.ru_majflt);
	return status;
}

static void run_list(void)
{
	struct token *end, *t = tokens;
	bool skip = false;

	for (; t->kind != END; t = end + (end->kind != END)) {
		for (end = t; end->kind <= PIPE; end++)
			;
		if (!skip && t->kind == WORD && !strcmp(t->text, "time") && t + 1 < end &&
		    t[1].kind != PIPE)
			last_status = run_timed(t + 1, end);
		else if (!skip)
			last_status = run_pipeline(t, end);
		skip = (end->kind == AND && last_status) || (end->kind == OR && !last_status);
	}
}

static void run_line(const char *line)
{
	arena_used = 0;
	if (tokenize(line) && check_syntax())
		run_list();
	else
		last_status = 2;
	while (reap_child(WNOHANG))
		;
}

/* Run what can be read from @fd, or when it is negative from @text, line by line. */
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
		 * Byte by byte: what follows the line belongs to the command that the line starts.
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
	if (interactive) {
		static const int ignored[] = { SIGINT, SIGQUIT, SIGTTOU, SIGTTIN, SIGTSTP };

		for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
			signal(ignored[i], SIG_IGN);
		setpgid(0, 0);
		tcsetpgrp(0, getpgrp());
	}
	run_lines(fd, NULL);
	if (interactive || shown)
		dprintf(1, "\n");
	return last_status;
}
