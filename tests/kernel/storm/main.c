/*
 * storm: system calls at random, by several processes at once.
 *
 * The seed and i determine call number i (calls.c, args.c). The numbers are divided into rounds: a round begins
 * with new folders and a worker for each remainder of i, and ends with all of them killed, and their files
 * removed. So a failure depends only on the calls of its round, and --keep makes only some of them, which
 * serves to shorten a failing run.
 *
 * A worker may end itself, or be ended by another: the next worker continues after its last call. A worker
 * without progress, because its call waits for something that never happens, gets a signal, then SIGKILL. If all
 * memory is used by files and segments, which the end of the round frees, the next worker may be killed for memory
 * before it makes a call: after MAX_VAIN such workers the round ends without the rest of the calls.
 */
#include "storm.h"

#define HELP                                                                                        \
	"usage: storm CALLS [--seed N] [--workers N] [--keep LIST] [--weight LIST] [--judge] DIR "  \
	"[DIR]\n"                                                                                   \
	"Make CALLS system calls drawn from a seed, in a folder of each DIR. --keep: only those\n"  \
	"with these numbers (3-7,12; or /FILE with such a list). Prints for each call how often\n"  \
	"it succeeded and failed; exit status 1 when something was touched that must not be.\n"     \
	"--weight: how often calls are drawn: raw=60,mount=60. raw writes to /dev/sda2, of which\n" \
	"the first DIR must have a sound image called raw.\n"                                       \
	"--judge: only those that change nothing, and what each answered, to be compared with Linux.\n"

enum {
	ROUND = 4000,
	TICK_MS = 5,
	NUDGE_TICKS = 8,
	KILL_TICKS = 24,
	HANG_TICKS = 12000,
	MAX_VAIN = 50
};

struct board *board;
uint32_t seed, nr_workers;
int nr_dirs;
const char *dirs[MAX_DIRS];
char work[MAX_DIRS][64];

static struct {
	uint32_t seen, quiet; /* next at the last check, and the number of ticks since */
	uint32_t begun, vain; /* next at the last restart, and the number of restarts in vain */
} watched[MAX_WORKERS];

static void start(unsigned worker, uint32_t end)
{
	pid_t pid;

	fflush(stdout);
	while ((pid = fork()) < 0) { /* copies have used all process slots, or all memory */
		board->nr_clears++;
		if (!control_clear())
			exit(1);
	}
	if (!pid) {
		setsid();
		args_prepare(worker % nr_dirs);
		place_enter(worker % nr_dirs, -1);
		work_through(worker, end);
	}
	board->workers[worker].pid = pid;
	watched[worker].quiet = 0;
}

/* A worker has ended: starts another one, unless no calls are left or the next call is unknown. */
static void go_on(unsigned worker, uint32_t end)
{
	uint32_t next = board->workers[worker].next;

	board->workers[worker].pid = 0;
	if (next >= end || board->workers[worker].check != ~next)
		return;
	board->nr_restarts++;
	watched[worker].vain = watched[worker].begun == next ? watched[worker].vain + 1 : 0;
	watched[worker].begun = next;
	if (watched[worker].vain < MAX_VAIN)
		start(worker, end);
	else
		board->nr_left_out += (end - next + nr_workers - 1) / nr_workers;
}

static void reap(uint32_t end)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		for (unsigned w = 0; w < nr_workers; w++)
			if (board->workers[w].pid == pid)
				go_on(w, end);
	}
}

static bool watch(unsigned worker)
{
	uint32_t next = board->workers[worker].next, quiet;

	if (watched[worker].seen != next)
		watched[worker].quiet = 0;
	watched[worker].seen = next;
	quiet = ++watched[worker].quiet;
	if (quiet == NUDGE_TICKS) {
		board->nr_nudges++;
		kill(board->workers[worker].pid, SIGHUP);
	} else if (quiet >= KILL_TICKS && quiet % KILL_TICKS == 0) {
		board->nr_kills += quiet == KILL_TICKS;
		kill(board->workers[worker].pid, SIGKILL);
	}
	if (quiet < HANG_TICKS)
		return true;
	printf("storm: hang: call %u\n", next - nr_workers);
	return false;
}

static bool run_round(uint32_t first, uint32_t end)
{
	unsigned left = 1;

	for (int dir = 0; dir < nr_dirs; dir++)
		place_make(dir);
	for (unsigned w = 0; w < nr_workers; w++) {
		board->workers[w].next = first + w;
		board->workers[w].check = ~(first + w);
		start(w, end);
	}
	while (left) {
		sleep_ms(TICK_MS);
		reap(end);
		left = 0;
		for (unsigned w = 0; w < nr_workers; w++) {
			if (!board->workers[w].pid)
				continue;
			left++;
			if (!watch(w))
				return false;
		}
	}
	if (!control_clear())
		return false;
	place_clear();
	return control_check();
}

static bool run(uint32_t nr_calls)
{
	for (uint32_t first = 0; first < nr_calls; first += ROUND) {
		uint32_t end = first + ROUND < nr_calls ? first + ROUND : nr_calls;

		if (keep_any(first, end) && !run_round(first, end)) {
			printf("storm: failed in calls %u to %u\n", first, end - 1);
			return false;
		}
	}
	return true;
}

/* Removes an option and its text from the arguments; returns NULL if it is not there. */
static const char *take_text(int *argc, char **argv, const char *name)
{
	for (int i = 1; i + 1 < *argc; i++) {
		const char *text = argv[i + 1];

		if (strcmp(argv[i], name))
			continue;
		memmove(&argv[i], &argv[i + 2], (*argc - i - 1) * sizeof(*argv));
		*argc -= 2;
		return text;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	bool ok, judging;

	help_if_asked(argc, argv, HELP);
	seed = lab_seed(&argc, argv, 1);
	nr_workers = lab_option(&argc, argv, "--workers", 1, MAX_WORKERS, 6);
	judging = lab_flag(&argc, argv, "--judge");
	keep_parse(take_text(&argc, argv, "--keep") ?: "");
	calls_weigh(take_text(&argc, argv, "--weight") ?: "");
	lab_operands(argc, argv, 2, 1 + MAX_DIRS, HELP);
	for (nr_dirs = 0; nr_dirs < argc - 2; nr_dirs++) {
		dirs[nr_dirs] = argv[nr_dirs + 2];
		snprintf(work[nr_dirs], sizeof(work[0]), "%s/storm.d", dirs[nr_dirs]);
	}
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (board == MAP_FAILED)
		die_errno("mmap");
	if (judging) {
		judge(parse_number(argv[1], "CALLS", 1, MAX_JUDGED));
		return 0;
	}
	sysctl_keep();
	control_begin();
	ok = run(parse_number(argv[1], "CALLS", 1, 1000000000));
	report();
	printf("R storm seed=%u calls=%u pages=%u left_out=%u restarts=%u nudges=%u kills=%u "
	       "clears=%u failures=%d\n",
	       seed, board->nr_calls, board->nr_pages, board->nr_left_out, board->nr_restarts,
	       board->nr_nudges, board->nr_kills, board->nr_clears, !ok);
	return !ok;
}
