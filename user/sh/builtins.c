/* Built-in commands. The shell runs them in its own process if they stand alone. */
#include "sh.h"

#define BUILTIN_HELP                                                                               \
	"cd [DIR]  exit [N]  export NAME=VALUE  help  jobs  fg [%N]  wait [%N]\n"                  \
	"kill [-SIG] PID|%N...  poweroff  time COMMAND  NAME=VALUE\n"                              \
	"Programs are in /bin; each answers --help.\n"

static int builtin_cd(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : getenv("HOME");

	if (!path)
		path = "/";
	return chdir(path) ? error(path, strerror(errno)) : 0;
}

static int builtin_exit(int argc, char **argv)
{
	long long status = last_status;

	if (argc > 1 && !is_number(argv[1], &status)) {
		error(argv[1], "not a number");
		exit(2);
	}
	exit(status);
}

/* Also handles plain NAME=VALUE words, which must then be the whole command. */
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

/* Sends a signal to the processes that an argument of kill names. Returns 0 or 1. */
static int kill_named(const char *name, int signal)
{
	struct job *job = name[0] == '%' ? job_named(name) : NULL;
	long long pid;

	if (name[0] == '%') {
		for (int i = 0; job && i < job->nr_stages; i++)
			kill(job->timed ? -job->pids[i] : job->pids[i], signal);
		return !job;
	}
	if (!is_number(name, &pid) || !pid || pid != (pid_t)pid)
		return error(name, "not a process or %job");
	return kill(pid, signal) ? error(name, strerror(errno)) : 0;
}

static int builtin_kill(int argc, char **argv)
{
	int first = 1, signal = SIGTERM, status = 0;

	if (argc > 1 && argv[1][0] == '-')
		signal = signal_number(argv[first++] + 1);
	if (signal < 0 || first >= argc)
		return error("kill", "usage: kill [-SIG] PID|%N...");
	for (; first < argc; first++)
		status |= kill_named(argv[first], signal);
	return status;
}

static int builtin_poweroff(int argc, char **argv)
{
	(void)argc, (void)argv;
	power_off(0);
	return error("poweroff", strerror(errno));
}

builtin_fn *find_builtin(const char *name)
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
