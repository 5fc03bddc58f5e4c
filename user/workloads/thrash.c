/*
 * thrash: N processes that cycle over private arrays.
 *
 * Every process writes two bytes of each of its pages, in order, again and again. A cyclic order is
 * the worst case of LRU: as soon as the arrays together exceed memory, the next page is always the
 * one evicted longest ago, and the processor waits for the disk (Denning, Thrashing: its causes and
 * prevention, 1968). Turnaround against N shows the collapse; a policy that lets some processes
 * wait avoids it.
 *
 * The phases are synchronised: all processes start together, fill their arrays, and begin their
 * rounds together when the last one is full. The gates are pipes on which nothing is written: a
 * read returns end-of-file as soon as the last writer has closed, which also happens when a process
 * dies, so that one death never stops the others.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: thrash NPROC KB ROUNDS [WORK] [--seed N]\n"                                        \
	"NPROC processes, each with KB KiB of its own, touch every page in order, ROUNDS\n"        \
	"times; WORK empty loop turns after every page (default 0). The seed changes what\n"       \
	"is written, not where. Exit status 1 when data were corrupt or a process died.\n"

enum { MAX_PROCESSES = 64, SECOND_BYTE = 2049 };

/* A process's report to the parent at its end. */
struct result {
	int id;
	uint32_t corrupt;
	uint64_t fill_ns, rounds_ns;
};

/* Both ends of the gates and the channels to the parent. */
struct channels {
	int start[2], go[2], ready[2], results[2];
};

static uint32_t nr_pages, work, seed;
static int rounds;

static void wait_at_gate(int fd)
{
	char c;

	if (read(fd, &c, 1) != 0)
		_exit(1);
}

static uint8_t first_byte(uint32_t page, int id)
{
	return page + id + seed;
}

static uint8_t second_byte(uint32_t page, int id)
{
	return (page ^ id) + seed;
}

static void fill(volatile uint8_t *array, int id)
{
	for (uint32_t k = 0; k < nr_pages; k++) {
		array[k * PAGE_SIZE_BYTES] = first_byte(k, id);
		array[k * PAGE_SIZE_BYTES + SECOND_BYTE] = second_byte(k, id);
	}
}

static void run_rounds(volatile uint8_t *array)
{
	for (int r = 0; r < rounds; r++) {
		for (uint32_t k = 0; k < nr_pages; k++) {
			array[k * PAGE_SIZE_BYTES]++;
			array[k * PAGE_SIZE_BYTES + SECOND_BYTE]++;
			for (volatile uint32_t turn = 0; turn < work; turn++)
				;
		}
	}
}

static uint32_t count_corrupt(volatile uint8_t *array, int id)
{
	uint32_t corrupt = 0;

	for (uint32_t k = 0; k < nr_pages; k++)
		corrupt += array[k * PAGE_SIZE_BYTES] != (uint8_t)(first_byte(k, id) + rounds) ||
			   array[k * PAGE_SIZE_BYTES + SECOND_BYTE] !=
				   (uint8_t)(second_byte(k, id) + rounds);
	return corrupt;
}

__attribute__((noreturn)) static void run_process(int id, const struct channels *ch)
{
	struct result result = { .id = id };
	volatile uint8_t *array;
	uint64_t t;

	close(ch->start[1]);
	close(ch->go[1]);
	wait_at_gate(ch->start[0]);
	array = lab_map(nr_pages);

	t = lab_now_ns();
	fill(array, id);
	result.fill_ns = lab_now_ns() - t;
	close(ch->ready[1]);
	wait_at_gate(ch->go[0]);

	t = lab_now_ns();
	run_rounds(array);
	result.rounds_ns = lab_now_ns() - t;
	result.corrupt = count_corrupt(array, id);
	_exit(write(ch->results[1], &result, sizeof(result)) != sizeof(result));
}

static void open_channels(struct channels *ch)
{
	if (pipe(ch->start) || pipe(ch->go) || pipe(ch->ready) || pipe(ch->results))
		die_errno("pipe");
}

/* Returns the number of processes started. */
static int start_processes(pid_t *pids, int nr_wanted, const struct channels *ch)
{
	for (int id = 0; id < nr_wanted; id++) {
		pids[id] = fork();
		if (pids[id] < 0) {
			warn_errno("fork");
			return id;
		}
		if (!pids[id])
			run_process(id, ch);
	}
	return nr_wanted;
}

/* Reap the processes, and name those that did not end normally. Returns their number. */
static int reap_processes(const pid_t *pids, int nr)
{
	int nr_lost = 0, status;

	for (int id = 0; id < nr; id++) {
		if (waitpid(pids[id], &status, 0) == pids[id] && status == 0)
			continue;
		nr_lost++;
		if (WIFSIGNALED(status))
			warn_user("process %d (pid %d) was killed by signal %d (%s)", id,
				  (int)pids[id], WTERMSIG(status), strsignal(WTERMSIG(status)));
		else
			warn_user("process %d (pid %d) failed with status %d", id, (int)pids[id],
				  WEXITSTATUS(status));
	}
	return nr_lost;
}

/* Sets what all processes share. Returns the number of processes. */
static int parse_arguments(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	seed = lab_option(&argc, argv, "--seed", 0, UINT32_MAX, 0);
	lab_operands(argc, argv, 3, 4, HELP);
	nr_pages = lab_pages(argv, 2, "KB");
	rounds = parse_number(argv[3], "ROUNDS", 0, INT32_MAX);
	work = argc > 4 ? parse_number(argv[4], "WORK", 0, INT32_MAX) : 0;
	return parse_number(argv[1], "NPROC", 1, MAX_PROCESSES);
}

int main(int argc, char **argv)
{
	uint64_t start_ns, fill_ns, sum_ns = 0, worst_ns = 0;
	int nr_wanted = parse_arguments(argc, argv), nr_started, nr_lost, nr_done = 0;
	uint32_t corrupt = 0;
	pid_t pids[MAX_PROCESSES];
	struct channels ch;
	struct result result;

	open_channels(&ch);
	start_ns = lab_now_ns();
	nr_started = start_processes(pids, nr_wanted, &ch);
	close(ch.start[0]);
	close(ch.start[1]);
	close(ch.ready[1]);
	close(ch.results[1]);
	wait_at_gate(ch.ready[0]);
	fill_ns = lab_now_ns() - start_ns;
	close(ch.go[0]);
	close(ch.go[1]);

	while (read(ch.results[0], &result, sizeof(result)) == sizeof(result)) {
		printf("P %d fill_us=%llu rounds_us=%llu\n", result.id, lab_us(result.fill_ns),
		       lab_us(result.rounds_ns));
		sum_ns += result.rounds_ns;
		if (result.rounds_ns > worst_ns)
			worst_ns = result.rounds_ns;
		corrupt += result.corrupt;
		nr_done++;
	}
	nr_lost = reap_processes(pids, nr_started) + nr_wanted - nr_started;
	printf("R thrash nproc=%d kb=%u rounds=%d work=%u fill_us=%llu total_us=%llu mean_us=%llu "
	       "worst_us=%llu "
	       "lost=%d corrupt=%u\n",
	       nr_wanted, nr_pages * PAGE_KB, rounds, work, lab_us(fill_ns),
	       lab_us(lab_now_ns() - start_ns), nr_done ? lab_us(sum_ns / nr_done) : 0,
	       lab_us(worst_ns), nr_lost, corrupt);
	return corrupt || nr_lost;
}
