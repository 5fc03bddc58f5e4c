/*
 * forkbomb: processes that fork until the kernel refuses.
 *
 * Every process forks as long as it can, and so does every child. A kernel that survives returns
 * EAGAIN (no more processes) or ENOMEM (no memory for another one), and the system is unchanged
 * after the bomb.
 *
 * Three pipes provide the order, without a signal or a counter, which a killed process could lose:
 *   tokens   holds one byte per fork allowed by MAX; without a writer, so that it ends when empty
 *   reports  each refused process writes the reason, and closes it; ends when all processes have
 *            finished forking or died
 *   lifeline never written; ends when the first process closes it, which ends all processes
 * Each process reaps its own children before it ends, so when the children of the first process are
 * gone, all are.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: forkbomb [MAX] [--hold SECONDS]\n"                                                 \
	"Fork, and let the children fork, until fork fails or MAX (up to 4096) forks were\n"       \
	"made. Hold the processes for SECONDS (default 0), then end and reap them all.\n"

enum { MAX_FORKS = 4096, CREATED = -1 };

static int tokens[2], reports[2], lifeline[2];
static bool limited;

/*
 * Report an event in a single write that other processes cannot interleave: CREATED or the errno of
 * a refused fork.
 */
static void report(int what)
{
	if (write(reports[1], &what, sizeof(what)) != sizeof(what))
		_exit(1);
}

static bool may_fork(void)
{
	char token;

	return !limited || read(tokens[0], &token, 1) == 1;
}

/* Runs in every process, including the first. Returns when no fork is left. */
static void fork_until_refused(void)
{
	while (may_fork()) {
		pid_t pid = fork();

		if (pid < 0) {
			report(errno);
			break;
		}
		if (!pid) {
			close(lifeline[1]);
			report(CREATED);
		}
	}
	close(reports[1]);
}

static void reap_all(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static void fill_tokens(long max)
{
	limited = true;
	for (long i = 0; i < max; i++) {
		if (write(tokens[1], "", 1) != 1)
			die_errno("tokens");
	}
}

static const char *error_name(int error)
{
	return error == EAGAIN   ? "EAGAIN"
	       : error == ENOMEM ? "ENOMEM"
	       : error           ? strerror(error)
				 : "none";
}

int main(int argc, char **argv)
{
	int what, nr_forked = 0, last_error = 0;
	pid_t first = getpid();
	long hold;
	char c;

	help_if_asked(argc, argv, HELP);
	hold = lab_option(&argc, argv, "--hold", 0, 86400, 0);
	lab_operands(argc, argv, 0, 1, HELP);
	if (pipe(tokens) || pipe(reports) || pipe(lifeline))
		die_errno("pipe");
	if (argc > 1)
		fill_tokens(parse_number(argv[1], "MAX", 1, MAX_FORKS));
	close(tokens[1]);

	fork_until_refused();
	if (getpid() != first) {
		if (read(lifeline[0], &c, 1) != 0)
			_exit(1);
		reap_all();
		_exit(0);
	}
	while (read(reports[0], &what, sizeof(what)) == sizeof(what)) {
		if (what == CREATED)
			nr_forked++;
		else
			last_error = what;
	}
	printf("R forkbomb forked=%d errno=%s\n", nr_forked, error_name(last_error));
	fflush(stdout);
	sleep(hold);
	close(lifeline[1]);
	reap_all();
	return 0;
}
