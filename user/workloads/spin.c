/*
 * spin: processes that only compute, to be observed from outside.
 *
 * The scheduler's work is clearest if no process waits for anything else: N processes with their
 * nice values execute instructions and touch no memory. The parent lets all of them begin at once,
 * and then only sleeps. With --pulse it wakes periodically, and its delay in getting the CPU is
 * what an interactive program would feel. Two more cases that a scheduler may get wrong are
 * available: a process that arrives late, after a long sleep, and one that lets others compute in
 * its place.
 *
 * An observer of the programs' references identifies the processes by their first stores after the
 * fork: each stores into the page of its number in an array that the parent has mapped. The parent,
 * which is number 0, does so last, just before it sleeps.
 */
#include "lab.h"
#include <sys/resource.h>

#define HELP                                                                                       \
	"usage: spin MS NICE... [--pulse MS] [--late MS] [--forks]\n"                              \
	"A process for each nice value computes for MS ms, then all are killed. The parent\n"      \
	"sleeps, and wakes every --pulse ms. With --late, the last process first sleeps for\n"     \
	"so long; with --forks, it starts one short process after the other that computes.\n"

enum { MAX_PROCESSES = 64, FORK_TURNS = 20000 };

static int start[2], ready[2];
static int late_ms;
static bool forks;
static void *array;

/* A hundred instructions; no memory is touched. */
static inline void compute(void)
{
	__asm__ volatile(".rept 98\n\tnop\n\t.endr");
}

static void wait_at_gate(int fd)
{
	char c;

	if (read(fd, &c, 1) != 0)
		_exit(1);
}

__attribute__((noreturn)) static void fork_for_ever(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			for (int turn = 0; turn < FORK_TURNS; turn++)
				compute();
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(1);
	}
}

__attribute__((noreturn)) static void be_process(int id, int nice_value, bool last)
{
	*lab_at(array, id, 0) = id;
	close(start[1]);
	if (setpriority(PRIO_PROCESS, 0, nice_value))
		_exit(1);
	close(ready[1]);
	wait_at_gate(start[0]);
	if (last && late_ms)
		sleep_ms(late_ms);
	if (last && forks)
		fork_for_ever();
	for (;;)
		compute();
}

/* Sleeps for ms in total, a pulse at a time. Returns the longest delay of a wake-up. */
static uint64_t sleep_in_pulses(long ms, long pulse_ms)
{
	uint64_t end = lab_now_ns() + ms * 1000000ull, worst = 0;

	for (uint64_t now = lab_now_ns(); now < end;) {
		uint64_t due = now + pulse_ms * 1000000ull;

		sleep_ms(pulse_ms);
		now = lab_now_ns();
		if (now - due > worst)
			worst = now - due;
	}
	return worst;
}

static void start_processes(pid_t *pids, char **nice_values, int nr)
{
	for (int i = 0; i < nr; i++) {
		int nice_value = parse_number(nice_values[i], "NICE", -20, 19);

		pids[i] = fork();
		if (pids[i] < 0)
			die_errno("fork");
		if (!pids[i])
			be_process(i + 1, nice_value, i + 1 == nr);
	}
}

/* Kill all of them, and print each one's CPU time. Returns the number that had died before. */
static int end_processes(const pid_t *pids, char **nice_values, int nr)
{
	int nr_lost = 0;

	for (int i = 0; i < nr; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < nr; i++) {
		struct rusage used;
		int status;

		if (wait4(pids[i], &status, 0, &used) != pids[i] || !WIFSIGNALED(status))
			nr_lost++;
		printf("P %d nice=%s user_us=%llu\n", i + 1, nice_values[i],
		       used.ru_utime.tv_sec * 1000000ull + used.ru_utime.tv_usec);
	}
	return nr_lost;
}

int main(int argc, char **argv)
{
	pid_t pids[MAX_PROCESSES];
	long ms, pulse_ms;
	uint64_t worst;
	int nr, nr_lost;

	help_if_asked(argc, argv, HELP);
	pulse_ms = lab_option(&argc, argv, "--pulse", 1, 1000000, 0);
	late_ms = lab_option(&argc, argv, "--late", 0, 1000000, 0);
	forks = lab_flag(&argc, argv, "--forks");
	nr = argc - 2;
	if (nr < 1 || nr > MAX_PROCESSES)
		usage_error(HELP);
	ms = parse_number(argv[1], "MS", 1, 1000000);

	array = lab_map(nr + 1);
	if (pipe(start) || pipe(ready))
		die_errno("pipe");
	start_processes(pids, argv + 2, nr);
	close(ready[1]);
	wait_at_gate(ready[0]);
	*lab_at(array, 0, 0) = 1;
	close(start[1]);
	worst = sleep_in_pulses(ms, pulse_ms ? pulse_ms : ms);
	nr_lost = end_processes(pids, argv + 2, nr);
	printf("R spin ms=%ld pulse_ms=%ld late_ms=%d forks=%d worst_latency_us=%llu lost=%d\n", ms,
	       pulse_ms, late_ms, forks, lab_us(worst), nr_lost);
	return nr_lost != 0;
}
