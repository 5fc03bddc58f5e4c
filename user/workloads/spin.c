/*
 * spin: processes that only compute, to be observed from outside.
 *
 * The scheduler's work is clearest if no process waits for anything else: N processes with their
 * nice values execute instructions and touch no memory. The parent lets all of them begin at once,
 * and then only sleeps. With --pulse it wakes periodically, and its delay in getting the CPU is
 * what an interactive program would feel. Two more cases that a scheduler may get wrong are
 * available: a process that arrives late, after a long sleep, one that lets others compute in its
 * place, one that naps often, one that yields often; and nice values that are set while all run.
 *
 * An observer of the programs' references identifies the processes by their first stores after the
 * fork: each stores into the page of its number in an array that the parent has mapped. The parent,
 * which is number 0, does so last, just before it sleeps.
 */
#include "lab.h"
#include <sched.h>
#include <sys/resource.h>

#define HELP                                                                                       \
	"usage: spin MS NICE... [--pulse MS] [--late MS] [--forks|--naps|--yields] [--renice]\n"   \
	"A process for each nice value computes for MS ms, then all are killed. The parent\n"      \
	"sleeps, and wakes every --pulse ms. With --late, the last process first sleeps for\n"     \
	"so long; with --forks, it starts one short process after the other that computes; with\n" \
	"--naps, it sleeps 0.1 ms after each 2.5 ms; with --yields, it yields every 0.1 ms.\n"     \
	"With --renice, all begin at nice 0, and the parent gives them their values as they run.\n"

enum { MAX_PROCESSES = 64, FORK_TURNS = 20000, NAP_TURNS = 25000, YIELD_TURNS = 1000 };

static int start[2], ready[2];
static int late_ms;
static bool forks, naps, yields, renice;
static void *array;

/* A hundred instructions; no memory is touched. */
static inline void compute(void)
{
	__asm__ volatile(".rept 98\n\tnop\n\t.endr");
}

static void compute_for(int turns)
{
	for (int turn = 0; turn < turns; turn++)
		compute();
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
			compute_for(FORK_TURNS);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(1);
	}
}

__attribute__((noreturn)) static void nap_for_ever(void)
{
	for (;;) {
		compute_for(NAP_TURNS);
		usleep(100);
	}
}

__attribute__((noreturn)) static void yield_for_ever(void)
{
	for (;;) {
		compute_for(YIELD_TURNS);
		sched_yield();
	}
}

__attribute__((noreturn)) static void be_process(int id, int nice_value, bool last)
{
	*lab_at(array, id, 0) = id;
	close(start[1]);
	if (!renice && setpriority(PRIO_PROCESS, 0, nice_value))
		_exit(1);
	close(ready[1]);
	wait_at_gate(start[0]);
	if (last && late_ms)
		sleep_ms(late_ms);
	if (last && forks)
		fork_for_ever();
	if (last && naps)
		nap_for_ever();
	if (last && yields)
		yield_for_ever();
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

/* The processes run already: their entities are in the queue. */
static void give_nice_values(const pid_t *pids, char **nice_values, int nr)
{
	for (int i = 0; i < nr; i++)
		if (setpriority(PRIO_PROCESS, pids[i],
				parse_number(nice_values[i], "NICE", -20, 19)))
			die_errno("setpriority");
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
	naps = lab_flag(&argc, argv, "--naps");
	yields = lab_flag(&argc, argv, "--yields");
	renice = lab_flag(&argc, argv, "--renice");
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
	if (renice)
		give_nice_values(pids, argv + 2, nr);
	worst = sleep_in_pulses(ms, pulse_ms ? pulse_ms : ms);
	nr_lost = end_processes(pids, argv + 2, nr);
	printf("R spin ms=%ld pulse_ms=%ld late_ms=%d forks=%d worst_latency_us=%llu lost=%d\n", ms,
	       pulse_ms, late_ms, forks, lab_us(worst), nr_lost);
	return nr_lost != 0;
}
