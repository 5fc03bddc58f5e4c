/* Records which children belong to which pipeline, and how each one ended. */
#include "sh.h"

struct job jobs[MAX_JOBS];

static void report_death(pid_t pid, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		dprintf(2, "\n");
	else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE)
		dprintf(2, "%s (pid %d)\n", strsignal(WTERMSIG(status)), (int)pid);
}

bool reap_child(int options)
{
	int status;
	pid_t pid = waitpid(-1, &status, options);

	if (pid <= 0)
		return false;
	report_death(pid, status);
	for (struct job *job = jobs; job < jobs + MAX_JOBS; job++) {
		for (int i = 0; job->nr_running && i < job->nr_stages; i++) {
			if (job->pids[i] != pid)
				continue;
			job->nr_running--;
			if (i == job->nr_stages - 1)
				job->status = status_code(status);
			if (!job->nr_running && job->background && interactive)
				dprintf(1, "[%d] Done  %s\n", (int)(job - jobs) + 1, job->text);
		}
	}
	return true;
}

int job_wait(struct job *job)
{
	while (job->nr_running && reap_child(0))
		;
	job->nr_running = 0;
	return job->status;
}

int job_foreground(struct job *job)
{
	int status;

	job->background = false;
	if (interactive)
		tcsetpgrp(0, job->pids[0]);
	status = job_wait(job);
	if (interactive)
		tcsetpgrp(0, getpgrp());
	return status;
}

struct job *job_new(void)
{
	for (struct job *job = jobs; job < jobs + MAX_JOBS; job++) {
		if (job->nr_running)
			continue;
		memset(job, 0, sizeof(*job));
		return job;
	}
	return NULL;
}

struct job *job_named(const char *name)
{
	long long nr = MAX_JOBS;

	if (name && !is_number(name + (*name == '%'), &nr))
		nr = 0;
	while (!name && nr > 0 && !jobs[nr - 1].nr_running)
		nr--;
	if (nr >= 1 && nr <= MAX_JOBS && jobs[nr - 1].nr_running)
		return &jobs[nr - 1];
	error(name ? name : "fg", "no such job");
	return NULL;
}

void job_describe(struct job *job, const struct token *t)
{
	for (size_t used = 0; t->kind <= PIPE && used < sizeof(job->text); t++)
		used += snprintf(job->text + used, sizeof(job->text) - used, "%s%s",
				 used ? " " : "", t->text);
}
