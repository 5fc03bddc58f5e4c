/* Lists and pipelines: what runs, in which process, with which files. */
#include "sh.h"
#include <sys/resource.h>

enum { SAVED_FD = 20 };

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

static void restore_signals(void)
{
	/* All that the shell ignores except SIGTSTP: the shell would wait for a job stopped by
	 * ^Z. */
	static const int restored[] = { SIGINT, SIGQUIT, SIGTTOU, SIGTTIN };

	for (size_t i = 0; i < ARRAY_SIZE(restored); i++)
		signal(restored[i], SIG_DFL);
}

__attribute__((noreturn)) static void run_child(struct command *command)
{
	builtin_fn *builtin;
	int reason;

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

/* Fork a process of @job. Returns 0 in it, and < 0 after a message on failure. */
static pid_t fork_stage(struct job *job)
{
	pid_t pid = fork();

	if (pid < 0) {
		error("fork", strerror(errno));
		return pid;
	}
	/* Parent and child both set it, so that it does not matter which runs first. */
	if (interactive || job->timed)
		setpgid(pid, job->nr_stages ? job->pids[0] : pid);
	if (!pid) {
		if (interactive && !job->background)
			tcsetpgrp(0, getpgrp());
		restore_signals();
		return 0;
	}
	job->pids[job->nr_stages++] = pid;
	job->nr_running++;
	return pid;
}

/*
 * Start one stage of @job that reads from @in and writes to @out. It closes @unused, the other end
 * of its pipe.
 */
static bool start_stage(struct job *job, struct command *command, int in, int out, int unused)
{
	pid_t pid = fork_stage(job);

	if (!pid) {
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
	return pid > 0;
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

/* Run a built-in command in the shell itself; its redirections are undone afterwards. */
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

/* Prints the job's number, in the format of bash. */
static void announce(const struct job *job)
{
	if (interactive)
		dprintf(1, "[%d] %d\n", (int)(job - jobs) + 1, (int)job->pids[job->nr_stages - 1]);
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
	if (background && !status)
		announce(job);
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

/* `time a | b &`: a separate shell runs the pipeline, and prints its time when it has ended. */
static int run_timed_in_background(struct token *time, struct token *end)
{
	struct job *job = job_new();
	pid_t pid;

	if (!job)
		return error("jobs", "too many");
	job->background = job->timed = true;
	job_describe(job, time);
	pid = fork_stage(job);
	if (!pid) {
		interactive = false;
		memset(jobs, 0, sizeof(jobs));
		end->kind = SEMICOLON;
		_exit(run_timed(time + 1, end));
	}
	if (pid > 0)
		announce(job);
	return pid < 0;
}

static bool is_timed(const struct token *t, const struct token *end)
{
	return t->kind == WORD && !strcmp(t->text, "time") && t + 1 < end && t[1].kind != PIPE;
}

void run_list(struct token *t)
{
	struct token *end;
	bool skip = false;

	for (; t->kind != END; t = end + (end->kind != END)) {
		for (end = t; end->kind <= PIPE; end++)
			;
		if (!skip && is_timed(t, end))
			last_status = end->kind == BACKGROUND ? run_timed_in_background(t, end)
							      : run_timed(t + 1, end);
		else if (!skip)
			last_status = run_pipeline(t, end);
		skip = (end->kind == AND && last_status) || (end->kind == OR && !last_status);
	}
}
