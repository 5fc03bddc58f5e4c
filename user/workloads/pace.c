/*
 * pace: a string of references with its own time, on real page tables.
 *
 * Like refstring, and for the same reasons: each number is a page of a private array, nothing else
 * of the program can be evicted, there is no readahead, and a system call follows each reference,
 * so that the kernel does not take the access that faulted for a use. In addition there is time:
 * work, in which the process's own time passes, and sleep, in which only the machine's does. So a
 * policy that looks at the clock can be shown any course of time with a few milliseconds of work.
 *
 * First the machine comes to rest. After a pause, a policy's overdue tick comes before anything
 * else. So when the string begins, a tick has just occurred, and init, the only other process, has
 * slept for several ticks.
 *
 * Only the result is printed. An observer outside the machine sees every reference.
 */
#include "lab.h"
#include <sys/resource.h>

#define HELP                                                                                       \
	"usage: pace WORD...\n"                                                                    \
	"A WORD is a page, 1 to 9999, or a range like 1-5, to be written to; w1000: work for\n"    \
	"1000 us of the process's own time; z60: sleep for 60 ms; f12: from here on the kernel\n"  \
	"has 12 frames for programs (its parameter `frames`); @FILE: the words in FILE.\n"         \
	"Nothing here is random, so there is no seed.\n"

enum { MAX_NUMBER = 9999, MAX_STEPS = 1 << 16, MAX_TEXT = 1 << 18 };
enum { PAUSES = 4, PAUSE_MS = 120 };

struct step {
	char what; /* p: a page, w: work, z: sleep, f: frames */
	uint32_t n;
};

static struct step steps[MAX_STEPS];
static uint32_t nr_steps, nr_pages, nr_references;

/* By number: its page of the array, and the number of writes to it. */
static uint16_t page_of[MAX_NUMBER + 1];
static uint32_t written[MAX_NUMBER + 1];

static void add_step(char what, long n)
{
	if (nr_steps == MAX_STEPS) {
		warn_user("more than %d references, works and sleeps", MAX_STEPS);
		exit(2);
	}
	steps[nr_steps++] = (struct step){ what, n };
}

static void add_pages(long first, long last)
{
	static bool seen[MAX_NUMBER + 1];

	for (long number = first; number <= last; number++) {
		if (!seen[number])
			page_of[number] = nr_pages++;
		seen[number] = true;
		nr_references++;
		add_step('p', number);
	}
}

static void parse_word(const char *word)
{
	bool is_page = !strchr("wzf", *word);
	char *end;
	long first = strtol(word + !is_page, &end, 10), last = first;

	if (is_page && *end == '-')
		last = strtol(end + 1, &end, 10);
	if (*end || first < 1 || last < first || last > (is_page ? MAX_NUMBER : 1000000)) {
		warn_user("'%s' is not a page or range from 1 to %d, nor w, z or f with a number",
			  word, MAX_NUMBER);
		exit(2);
	}
	if (!is_page)
		add_step(*word, first);
	else
		add_pages(first, last);
}

static void parse_file(const char *path)
{
	static char text[MAX_TEXT];

	if (read_file(path, text, sizeof(text)) <= 0)
		die_errno(path);
	for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n"))
		parse_word(word);
}

/* Two instructions per iteration with any compiler: an exact machine executes 1,000 in 1 us. */
static void work(uint32_t us)
{
	for (uint32_t turns = us * 500; turns;)
		__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns));
}

static void set_frames(uint32_t n)
{
	int fd = open("/proc/params", O_WRONLY);

	if (fd < 0 || dprintf(fd, "frames=%u", n) < 0)
		die_errno("/proc/params");
	close(fd);
}

/*
 * Writes to a page. Returns false if it does not hold the last value written. That is in the other
 * of two words, alternately, so that the store comes first: in a new page a load faults separately.
 */
static bool refer(void *array, uint32_t number)
{
	uint32_t turn = ++written[number];
	bool intact;

	*lab_at(array, page_of[number], turn % 2) = turn;
	intact = *lab_at(array, page_of[number], (turn - 1) % 2) == turn - 1;
	getppid();
	return intact;
}

static uint32_t run(void *array)
{
	uint32_t corrupt = 0;

	for (const struct step *s = steps; s < steps + nr_steps; s++)
		if (s->what == 'w')
			work(s->n);
		else if (s->what == 'z')
			usleep(s->n * 1000);
		else if (s->what == 'f')
			set_frames(s->n);
		else
			corrupt += !refer(array, s->n);
	return corrupt;
}

/* Makes the kernel compare the policy's lists with its own data. */
static bool lists_agree(void)
{
	static char said[4096];

	return read_file("/proc/vm/check", said, sizeof(said)) > 0 && !strcmp(said, "ok\n");
}

static uint64_t own_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec * 1000000ull + usage.ru_utime.tv_usec;
}

int main(int argc, char **argv)
{
	uint32_t corrupt;
	void *array;

	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 1, INT32_MAX, HELP);
	for (int i = 1; i < argc; i++)
		if (*argv[i] == '@')
			parse_file(argv[i] + 1);
		else
			parse_word(argv[i]);
	if (mlockall(MCL_CURRENT))
		die_errno("mlockall");
	array = lab_map(nr_pages + 1);
	if (madvise(array, (size_t)nr_pages * PAGE_SIZE_BYTES, MADV_RANDOM))
		warn_errno("madvise MADV_RANDOM");
	for (int i = 0; i < PAUSES; i++)
		usleep(PAUSE_MS * 1000);
	corrupt = run(array);
	if (!lists_agree()) {
		warn_user("/proc/vm/check is not content");
		return 1;
	}
	printf("R pace references=%u pages=%u own_us=%llu corrupt=%u\n", nr_references, nr_pages,
	       (unsigned long long)own_us(), corrupt);
	return corrupt != 0;
}
