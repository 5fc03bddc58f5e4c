/*
 * refstring: a textbook reference string on real page tables.
 *
 * The exercise "how many faults has 1 2 3 4 1 2 5 1 2 3 4 5 with three frames under FIFO?" becomes
 * an experiment: every distinct number is one page of a private array, every reference is one
 * access to it. To get the book's answer, only these pages may be paged in and out. So everything
 * else that the program touches (its text, its stack, the tables below, the output buffers) is
 * touched and then locked with mlockall(MCL_CURRENT) before the array is mapped, MADV_RANDOM
 * forbids readahead, and nothing is printed before the last reference.
 *
 * A reference counts as a fault if the kernel's fault counters of this process increased during it.
 * The default reference is one exchange of a word: an access that reads the old value and writes a
 * new one, yet faults at most once. With the suffix r it only reads. A page whose first reference
 * is a read maps the shared zero page, which occupies no frame; its first write then faults again.
 */
#include "lab.h"
#include <sys/resource.h>

#define HELP                                                                                       \
	"usage: refstring [-v] [--repeat N] PAGE...\n"                                             \
	"Touch exactly these pages, in order, and count the page faults. A PAGE is a\n"            \
	"number from 0 to 9999, or a range like 1-5; with the suffix r it is read, not\n"          \
	"written. --repeat N: the whole string N times. -v: one line per reference.\n"             \
	"Nothing here is random, so there is no seed.\n"

enum {
	MAX_NUMBER = 9999,
	MAX_REFERENCES = 1 << 20,
	STACK_BYTES = 32 << 10,
};

struct reference {
	uint16_t number;
	bool is_read, is_hit;
	uint32_t minor, major; /* increase of the counters */
};

static struct reference *references;
static uint32_t nr_references, nr_pages;

/* By number: its page of the array, and the expected value of its word. */
static uint16_t page_of[MAX_NUMBER + 1];
static uint32_t expected[MAX_NUMBER + 1];

/* Parse the digits at *text. Returns false if there are none. */
static bool parse_page(const char **text, long *number)
{
	if (!isdigit((unsigned char)**text))
		return false;
	*number = strtol(*text, (char **)text, 10);
	return *number <= MAX_NUMBER;
}

/* Parse "7", "1-5", or one of these with the suffix r. Returns false for anything else. */
static bool parse_range(const char *text, long *first, long *last, bool *is_read)
{
	if (!parse_page(&text, first))
		return false;
	*last = *first;
	if (*text == '-') {
		text++;
		if (!parse_page(&text, last))
			return false;
	}
	*is_read = *text == 'r';
	text += *is_read;
	return !*text && *last >= *first;
}

static uint32_t count_references(char **operands, int nr)
{
	uint64_t count = 0;
	long first, last;
	bool is_read;

	for (int i = 0; i < nr; i++) {
		if (!parse_range(operands[i], &first, &last, &is_read)) {
			warn_user("'%s' is not a page number or range from 0 to %d", operands[i],
				  MAX_NUMBER);
			exit(2);
		}
		count += last - first + 1;
	}
	return count <= MAX_REFERENCES ? count : MAX_REFERENCES + 1;
}

/* Expand the string, @repeat times, and give every distinct number the next free page. */
static void make_references(char **operands, int nr, long repeat)
{
	uint64_t total = (uint64_t)count_references(operands, nr) * repeat;
	static bool seen[MAX_NUMBER + 1];
	long first, last;
	bool is_read;

	if (total > MAX_REFERENCES) {
		warn_user("more than %d references", MAX_REFERENCES);
		exit(2);
	}
	references = calloc(total, sizeof(*references));
	if (!references)
		die_errno("references");
	for (int i = 0; i < nr; i++) {
		parse_range(operands[i], &first, &last, &is_read);
		for (long number = first; number <= last; number++) {
			references[nr_references++] =
				(struct reference){ .number = number, .is_read = is_read };
			if (!seen[number])
				page_of[number] = nr_pages++;
			seen[number] = true;
		}
	}
	for (; nr_references < total; nr_references++)
		references[nr_references] = references[nr_references - total / repeat];
}

/* Touch everything that will be used, and lock it: afterwards only the array can fault. */
static void lock_myself(void)
{
	volatile char stack[STACK_BYTES];

	for (size_t i = 0; i < sizeof(stack); i += PAGE_SIZE_BYTES)
		stack[i] = 1;
	for (uint32_t i = 0; i < nr_references; i++)
		((volatile struct reference *)references)[i].is_hit = true;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		((volatile uint32_t *)expected)[i] = 0;
	if (mlockall(MCL_CURRENT)) {
		warn_user("mlockall: %s: without it my own pages would be part of the experiment",
			  strerror(errno));
		exit(1);
	}
}

static uint32_t run_references(void *array)
{
	static struct rusage before, after;
	uint32_t corrupt = 0, found, stamp = 0;

	for (struct reference *r = references; r < references + nr_references; r++) {
		volatile uint32_t *word = lab_at(array, page_of[r->number], 0);

		getrusage(RUSAGE_SELF, &before);
		found = r->is_read ? *word : __atomic_exchange_n(word, ++stamp, __ATOMIC_RELAXED);
		getrusage(RUSAGE_SELF, &after);
		corrupt += found != expected[r->number];
		if (!r->is_read)
			expected[r->number] = stamp;
		r->minor = after.ru_minflt - before.ru_minflt;
		r->major = after.ru_majflt - before.ru_majflt;
		r->is_hit = !r->minor && !r->major;
	}
	return corrupt;
}

static uint32_t count_faults(bool verbose)
{
	uint32_t faults = 0;

	for (const struct reference *r = references; r < references + nr_references; r++) {
		faults += !r->is_hit;
		if (!verbose)
			continue;
		printf("%6d %4u %-5s %s\n", (int)(r - references) + 1, r->number,
		       r->is_read ? "read" : "write",
		       r->is_hit  ? "hit"
		       : r->major ? "fault (major)"
				  : "fault (minor)");
	}
	return faults;
}

int main(int argc, char **argv)
{
	uint32_t corrupt, faults;
	bool verbose;
	long repeat;
	void *array;

	help_if_asked(argc, argv, HELP);
	verbose = lab_flag(&argc, argv, "-v");
	repeat = lab_option(&argc, argv, "--repeat", 1, MAX_REFERENCES, 1);
	lab_operands(argc, argv, 1, INT32_MAX, HELP);
	make_references(argv + 1, argc - 1, repeat);

	lock_myself();
	array = lab_map(nr_pages);
	if (madvise(array, (size_t)nr_pages * PAGE_SIZE_BYTES, MADV_RANDOM))
		warn_errno("madvise MADV_RANDOM");
	corrupt = run_references(array);

	if (verbose)
		printf("%6s %4s %-5s %s\n", "ref", "page", "kind", "result");
	faults = count_faults(verbose);
	if (corrupt)
		warn_user("corrupt=%u: that many references did not find what was written",
			  corrupt);
	printf("references: %u\npages: %u\nfaults: %u\n", nr_references, nr_pages, faults);
	return corrupt != 0;
}
