/*
 * torture: memory operations of a program, in random order, while it is being swapped.
 *
 * Each worker keeps a range of pages and a model of it: each page's stamp, which determines its
 * content. Copies (fork) are changed and checked on both sides; some are killed or replaced by
 * exec. The model is swapped, too. Workers that were ended by a signal are only counted.
 */
#include "lab.h"
#include <sched.h>

#define HELP                                                                                       \
	"usage: torture WORKERS PAGES ROUNDS [--seed N]\n"                                         \
	"WORKERS processes do ROUNDS random things each to PAGES pages and check every word.\n"

enum { ABSENT = 0xffffffff, MAX_SPAN = 24, COPY_OK = 42 };

static uint32_t seed, nr_pages, stamp, corrupt;
static uint32_t *model; /* per page: its stamp, 0: zeros, ABSENT: not mapped */
static char *range;

static char *page_at(uint32_t page)
{
	return range + (size_t)page * PAGE_SIZE_BYTES;
}

static uint32_t below(uint32_t n)
{
	return lab_random(&seed) % n;
}

static void write_pages(uint32_t first, uint32_t n)
{
	for (uint32_t page = first; page < first + n; page++) {
		if (model[page] == ABSENT)
			continue;
		model[page] = ++stamp;
		for (uint32_t w = 0; w < WORDS_PER_PAGE; w++)
			*lab_at(range, page, w) = lab_word(stamp + w);
	}
}

static void check_words(const void *words, uint32_t page)
{
	uint32_t wrong = 0, s = model[page];

	for (uint32_t w = 0; w < WORDS_PER_PAGE; w++)
		wrong += ((const uint32_t *)words)[w] != (s ? lab_word(s + w) : 0);
	if (wrong)
		warn_user("page %u: %u words differ from stamp %u", page, wrong, s);
	corrupt += wrong;
}

static void check_pages(uint32_t first, uint32_t n)
{
	for (uint32_t page = first; page < first + n; page++)
		if (model[page] != ABSENT)
			check_words(page_at(page), page);
}

static void map_anew(uint32_t first, uint32_t n)
{
	if (mmap(page_at(first), n * PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		die_errno("mmap");
	memset(&model[first], 0, n * sizeof(*model));
}

/* Removes access to the range, lets others run, and restores it. The kernel must respect that,
 * too. */
static void protect(uint32_t first, uint32_t n)
{
	int fd = open("/proc/version", O_RDONLY);

	if (!mprotect(page_at(first), n * PAGE_SIZE_BYTES, below(2) ? PROT_NONE : PROT_READ)) {
		sched_yield();
		corrupt += read(fd, page_at(first), 1) != -1 || errno != EFAULT;
		mprotect(page_at(first), n * PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE);
	}
	close(fd);
}

static void advise(uint32_t first, uint32_t n)
{
	if (below(2))
		madvise(page_at(first), n * PAGE_SIZE_BYTES,
			below(2) ? MADV_WILLNEED : MADV_RANDOM);
	else
		mlock(page_at(first), n * PAGE_SIZE_BYTES);
}

/* Unmaps the range, or only discards its content. */
static void drop(uint32_t first, uint32_t n)
{
	bool unmap = below(2);

	munlock(page_at(first), n * PAGE_SIZE_BYTES);
	if (!unmap || munmap(page_at(first), n * PAGE_SIZE_BYTES))
		madvise(page_at(first), n * PAGE_SIZE_BYTES, MADV_DONTNEED);
	for (uint32_t page = first; page < first + n; page++)
		if (unmap || model[page] != ABSENT)
			model[page] = unmap ? ABSENT : 0;
}

static void __attribute__((noreturn)) be_copy(uint32_t first, uint32_t n)
{
	corrupt = 0;
	write_pages(first, n);
	check_pages(0, nr_pages);
	if (!corrupt && !below(3))
		execl("/bin/sh", "sh", "-c", "exit 42", NULL);
	_exit(corrupt ? 1 : COPY_OK);
}

static void fork_copy(uint32_t first, uint32_t n)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		be_copy(first, n);
	write_pages(first, (n + 1) / 2);
	if (pid < 0)
		return;
	if (!below(4)) {
		sleep_ms(below(20));
		kill(pid, SIGKILL);
	}
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		corrupt += WEXITSTATUS(status) != COPY_OK;
}

/* A child sends the pages; a page is moved by one write and one read. */
static void through_pipe(uint32_t first, uint32_t n)
{
	static uint32_t buf[WORDS_PER_PAGE];
	pid_t pid;
	int fd[2];

	if (pipe(fd) || (pid = fork()) < 0)
		die_errno("pipe");
	close(fd[!!pid]);
	for (uint32_t page = first; page < first + n; page++) {
		if (model[page] == ABSENT)
			continue;
		if (!pid && write(fd[1], page_at(page), sizeof(buf)) != sizeof(buf))
			_exit(1);
		if (pid && read(fd[0], buf, sizeof(buf)) == sizeof(buf))
			check_words(buf, page);
	}
	if (!pid)
		_exit(0);
	close(fd[0]);
	waitpid(pid, NULL, 0);
}

static int work(uint32_t rounds)
{
	static void (*const things[])(uint32_t first, uint32_t n) = {
		drop,      drop,         map_anew,    map_anew,    protect,     advise,
		fork_copy, through_pipe, check_pages, write_pages, write_pages, write_pages,
	};

	range = lab_map(nr_pages);
	model = lab_map(nr_pages * sizeof(*model) / PAGE_SIZE_BYTES + 1);
	while (rounds--) {
		uint32_t first = below(nr_pages), left = nr_pages - first;

		things[below(ARRAY_SIZE(things))](first,
						  1 + below(left < MAX_SPAN ? left : MAX_SPAN));
	}
	check_pages(0, nr_pages);
	return corrupt != 0;
}

int main(int argc, char **argv)
{
	uint32_t workers, rounds, bad = 0, killed = 0;
	uint64_t t = lab_now_ns();
	int status;

	help_if_asked(argc, argv, HELP);
	seed = lab_seed(&argc, argv, 1);
	lab_operands(argc, argv, 3, 3, HELP);
	workers = parse_number(argv[1], "WORKERS", 1, 100);
	nr_pages = parse_number(argv[2], "PAGES", 1, 1 << 18);
	rounds = parse_number(argv[3], "ROUNDS", 0, 1 << 24);
	for (uint32_t i = 0; i < workers; i++) {
		pid_t pid = fork();

		seed = lab_word(seed + i) | 1;
		if (pid < 0)
			die_errno("fork");
		if (!pid)
			exit(work(rounds));
	}
	for (; wait(&status) > 0; killed += WIFSIGNALED(status))
		bad += WIFEXITED(status) && WEXITSTATUS(status);
	printf("R torture workers=%u pages=%u rounds=%u us=%llu killed=%u corrupt=%u\n", workers,
	       nr_pages, rounds, lab_us(lab_now_ns() - t), killed, bad);
	return bad != 0;
}
