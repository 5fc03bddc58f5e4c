/*
 * ticks: the string in /string on real page tables, like refstring, with ticks of the policy
 * at known places.
 *
 * A word is a page's number, or t. At t the process works for WORK_US of its own time and then
 * sleeps past the policy's next tick, which therefore comes when it wakes; the short sleep after it is
 * for pages that the tick may have trimmed. All t except the first ones, which let init become idle,
 * are WORK_US apart in the process's virtual time. The string between two of them must take less
 * than the tick's 50 ms together with WORK_US.
 *
 * Prints for each page h (hit), f (fault) or m (a fault that found the page in memory).
 */
#include "lab.h"
#include <sys/resource.h>

enum { MAX_WORDS = 1 << 13, MAX_PAGE = 1 << 11, FIRST_TICKS = 4 };
enum { WORK_US = 30000, PAST_TICK_US = 70000, SETTLE_US = 2000 };

static char text[1 << 16], results[MAX_WORDS + 1];
static int16_t words[MAX_WORDS]; /* -1: a tick */
static size_t nr_words, nr_results;

static void parse_words(void)
{
	for (char *word = strtok(text, " \n"); word && nr_words < MAX_WORDS;
	     word = strtok(NULL, " \n"))
		words[nr_words++] = *word == 't' ? -1 : atoi(word) % MAX_PAGE;
}

static uint64_t own_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec * 1000000ull + usage.ru_utime.tv_usec;
}

static void tick(uint32_t work_us)
{
	uint64_t end = own_us() + work_us;

	while (own_us() < end)
		for (volatile int i = 0; i < 20000; i++)
			;
	usleep(PAST_TICK_US);
	usleep(SETTLE_US);
}

static char refer(void *array, uint32_t page)
{
	static struct rusage before, after;
	static bool seen[MAX_PAGE];
	bool first = !seen[page];

	seen[page] = true;
	getrusage(RUSAGE_SELF, &before);
	++*lab_at(array, page, 0);
	getrusage(RUSAGE_SELF, &after);
	if (after.ru_majflt != before.ru_majflt)
		return 'f';
	/* On the first use, the page need not be read from disk. */
	return after.ru_minflt == before.ru_minflt ? 'h' : first ? 'f' : 'm';
}

int main(void)
{
	void *array;

	if (read_file("/string", text, sizeof(text)) <= 0) {
		warn_errno("/string");
		return 1;
	}
	parse_words();
	if (mlockall(MCL_CURRENT)) {
		warn_errno("mlockall");
		return 1;
	}
	array = lab_map(MAX_PAGE);
	if (madvise(array, MAX_PAGE * PAGE_SIZE_BYTES, MADV_RANDOM))
		warn_errno("madvise");
	for (int i = 0; i < FIRST_TICKS; i++)
		tick(0);
	for (size_t i = 0; i < nr_words; i++)
		if (words[i] < 0)
			tick(WORK_US);
		else
			results[nr_results++] = refer(array, words[i]);
	puts(results);
	return 0;
}
