/*
 * origin: what a handler with SA_SIGINFO learns about a signal's origin. On Linux, too, this must report no failures.
 */
#include "check.h"
#include "lab.h"
#include <sys/time.h>

#define HELP "usage: origin\n"

static siginfo_t seen;

static void catch (int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	seen = *info;
}

static void handle(int sig)
{
	struct sigaction action = { .sa_sigaction = catch, .sa_flags = SA_SIGINFO };

	CHECK(!sigaction(sig, &action, NULL));
}

/* Makes a child that ends with this status, after a signal to its parent. */
static pid_t child(int sig, int status)
{
	pid_t pid = fork();

	if (!pid) {
		kill(getppid(), sig);
		_exit(status);
	}
	return pid;
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void test_sender(void)
{
	pid_t pid;

	handle(SIGUSR1);
	CHECK(!kill(getpid(), SIGUSR1));
	CHECK(seen.si_signo == SIGUSR1 && seen.si_code == SI_USER && seen.si_pid == getpid());
	CHECK(!raise(SIGUSR1) && seen.si_code == SI_TKILL && seen.si_pid == getpid());
	pid = child(SIGUSR1, 0);
	wait_for(pid);
	CHECK(seen.si_code == SI_USER && seen.si_pid == pid && !seen.si_uid == !getuid());
}

/* If several signals arrive while blocked, the first is reported. */
static void test_blocked(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
	wait_for(child(SIGUSR1, 0));
	CHECK(!kill(getpid(), SIGUSR1));
	CHECK(!sigprocmask(SIG_UNBLOCK, &set, NULL));
	CHECK(seen.si_pid != getpid() && seen.si_code == SI_USER);
}

static void test_child(void)
{
	pid_t pid;

	handle(SIGCHLD);
	pid = child(0, 7);
	wait_for(pid);
	CHECK(seen.si_signo == SIGCHLD && seen.si_pid == pid);
	CHECK(seen.si_code == CLD_EXITED && seen.si_status == 7);
	pid = fork();
	if (!pid)
		pause();
	CHECK(!kill(pid, SIGKILL));
	wait_for(pid);
	CHECK(seen.si_pid == pid && seen.si_code == CLD_KILLED && seen.si_status == SIGKILL);
	CHECK(!kill(getpid(), SIGCHLD) && seen.si_code == SI_USER && seen.si_pid == getpid());
	signal(SIGCHLD, SIG_DFL);
}

static void test_kernel(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 1000 };
	int ends[2];

	handle(SIGALRM);
	CHECK(!setitimer(ITIMER_REAL, &soon, NULL) && pause() < 0);
	CHECK(seen.si_signo == SIGALRM && seen.si_code == SI_KERNEL && !seen.si_pid);
	handle(SIGPIPE);
	CHECK(!pipe(ends) && !close(ends[0]));
	FAILS(write(ends[1], "x", 1), EPIPE);
	CHECK(seen.si_signo == SIGPIPE && seen.si_code == SI_USER && seen.si_pid == getpid());
	CHECK(!close(ends[1]));
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	test_sender();
	test_blocked();
	test_child();
	test_kernel();
	return check_report("origin");
}
