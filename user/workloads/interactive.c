/*
 * interactive: a user at a terminal, beside a batch job.
 *
 * An editor sleeps most of the time and wakes up for a moment at each key: it touches its small set
 * of pages and sleeps again. While it sleeps, a batch job that overloads memory takes its pages. So
 * a key is answered in microseconds, or after dozens of reads. Throughput does not show this, and a
 * guard that stops processes may pay for throughput with it.
 *
 * Each time is measured from the requested wake-up to the last touch, so it includes the wait for
 * the processor and for the program's own pages. The measurement runs as long as COMMAND does, and
 * at least once.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: interactive KB SLEEP_MS COMMAND [ARGUMENT...]\n"                                   \
	"Start COMMAND. Until it has ended, sleep for SLEEP_MS ms, then write to every page\n"     \
	"of KB KiB, again and again. Prints how long that took from the end of the sleep:\n"       \
	"median, 90 and 99 in 100, worst. Nothing here is random, so there is no seed of\n"        \
	"its own: all that follows COMMAND is COMMAND's.\n"

enum { MAX_WAKES = 1 << 16 };

static uint32_t nr_pages;

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid < 0)
		die_errno("fork");
	if (!pid) {
		execvp(command[0], command);
		die_errno(command[0]);
	}
	return pid;
}

/* Returns the number of words that differ from what the last turn wrote. */
static uint32_t touch_all(void *array, uint32_t turn)
{
	uint32_t corrupt = 0;

	for (uint32_t k = 0; k < nr_pages; k++) {
		volatile uint32_t *word = lab_at(array, k, 0);

		corrupt += *word != lab_word(k) + turn;
		++*word;
	}
	return corrupt;
}

/* Sleeps and touches until the command has ended. Returns the number of turns; *status is its
 * status. */
static int measure(pid_t pid, void *array, long sleep_for_ms, uint64_t *wake_ns, uint32_t *corrupt,
		   int *status)
{
	int nr = 0;

	do {
		uint64_t due = lab_now_ns() + sleep_for_ms * 1000000ull;

		sleep_ms(sleep_for_ms);
		*corrupt += touch_all(array, nr);
		wake_ns[nr++] = lab_now_ns() - due;
	} while (waitpid(pid, status, nr < MAX_WAKES ? WNOHANG : 0) == 0);
	return nr;
}

int main(int argc, char **argv)
{
	uint64_t *wake_ns, start_ns;
	uint32_t corrupt = 0;
	long sleep_for_ms;
	int nr, status;
	void *array;

	help_if_asked(argc, argv, HELP);
	if (argc < 4)
		usage_error(HELP);
	nr_pages = lab_pages(argv, 1, "KB");
	sleep_for_ms = parse_number(argv[2], "SLEEP_MS", 1, 1000000);
	array = lab_map(nr_pages);
	wake_ns = lab_times(MAX_WAKES);
	for (uint32_t k = 0; k < nr_pages; k++)
		*lab_at(array, k, 0) = lab_word(k);

	start_ns = lab_now_ns();
	nr = measure(start(argv + 3), array, sleep_for_ms, wake_ns, &corrupt, &status);
	lab_spread("interactive_wake", wake_ns, nr, 1000, "us");
	printf("R interactive kb=%u sleep_ms=%ld wakes=%d run_us=%llu status=%d corrupt=%u\n",
	       nr_pages * PAGE_KB, sleep_for_ms, nr, lab_us(lab_now_ns() - start_ns),
	       status_code(status), corrupt);
	return corrupt || status;
}
