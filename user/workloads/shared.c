/*
 * shared: memory that several processes write to concurrently, of each available kind.
 *
 * After a fork all processes have the same pages, and each changes its own word of random pages. So
 * every frame has several users, any of which may have used it last, and its content is correct
 * only if no process's write is lost on the way to the swap area and back. Each child knows the
 * expected values of its words. At the end the parent, which knows the order of all references,
 * checks all words.
 */
#include "lab.h"
#include <sys/mman.h>
#include <sys/shm.h>

#define HELP                                                                                       \
	"usage: shared anon|memfd|shm|PATH NPROC KB REFS [WORK] [io] [cut] [--seed N]\n"           \
	"Fork NPROC processes that make REFS random references each to KB KiB of shared memory:\n" \
	"anonymous, of memfd_create, of System V, or a file at PATH. Every second reference\n"     \
	"changes a word. io: every fourth by read and write (memfd, PATH). cut: one more\n"        \
	"process truncates and fills as much memory again behind that. WORK: empty loop\n"         \
	"turns after each. Exit status 1 when data were corrupt or a process died.\n"

enum { DEFAULT_SEED = 88172645, MAX_PROCESSES = 64 };

static uint32_t nr_pages, refs, work, seed;
static bool with_io, with_cut;
static void *memory;
static int fd = -1;

/* The offset of the process's word in a page, in bytes, and its expected value after n changes. */
static off_t place_of(int id, uint32_t page)
{
	return (off_t)page * PAGE_SIZE_BYTES + 4 * ((id * 31 + page) % WORDS_PER_PAGE);
}

static uint32_t word_of(int id, uint32_t page, uint32_t n)
{
	return n ? lab_word(page * MAX_PROCESSES + id) + n : 0;
}

static uint32_t read_word(int id, uint32_t page, bool io)
{
	uint32_t word = 0;

	if (!io)
		return *(volatile uint32_t *)((char *)memory + place_of(id, page));
	if (pread(fd, &word, sizeof(word), place_of(id, page)) != sizeof(word))
		die_errno("read");
	return word;
}

static void write_word(int id, uint32_t page, uint32_t word, bool io)
{
	if (!io)
		*(volatile uint32_t *)((char *)memory + place_of(id, page)) = word;
	else if (pwrite(fd, &word, sizeof(word), place_of(id, page)) != sizeof(word))
		die_errno("write");
}

static uint32_t first_random(int id)
{
	uint32_t state = seed + lab_word(id);

	return state + !state;
}

/* Runs in a child: returns the number of words that differ from what it wrote. */
static uint32_t run_child(int id)
{
	uint16_t *written = lab_map(nr_pages / (2 * WORDS_PER_PAGE) + 1);
	uint32_t state = first_random(id), corrupt = 0;

	for (uint32_t r = 0; r < refs; r++) {
		uint32_t page = lab_random(&state) % nr_pages;
		bool io = with_io && r % 4 == 1;

		corrupt += read_word(id, page, io) != word_of(id, page, written[page]);
		if (r % 2)
			write_word(id, page, word_of(id, page, ++written[page]), io);
		lab_work(work);
	}
	return corrupt;
}

/* Runs in the parent, afterwards: repeats the same references to know what was written. */
static uint32_t check_child(int id)
{
	uint16_t *written = lab_map(nr_pages / (2 * WORDS_PER_PAGE) + 1);
	uint32_t state = first_random(id), corrupt = 0;

	for (uint32_t r = 0; r < refs; r++) {
		uint32_t page = lab_random(&state) % nr_pages;

		written[page] += r % 2;
	}
	for (uint32_t page = 0; page < nr_pages; page++)
		corrupt += read_word(id, page, false) != word_of(id, page, written[page]);
	return corrupt;
}

/* Runs in a child: truncates and extends the second half of the file. New pages are zero until
 * written. */
static uint32_t run_cutter(void)
{
	off_t half = (off_t)nr_pages * PAGE_SIZE_BYTES;
	uint32_t corrupt = 0;

	for (uint32_t turn = 1; turn <= 1 + refs / 256; turn++) {
		if (ftruncate(fd, half) || ftruncate(fd, 2 * half))
			die_errno("ftruncate");
		for (uint32_t page = nr_pages; page < 2 * nr_pages; page++) {
			bool io = page % 2;

			corrupt += read_word(0, page, io) != 0;
			write_word(0, page, turn, !io);
		}
		for (uint32_t page = nr_pages; page < 2 * nr_pages; page++)
			corrupt += read_word(0, page, page % 3) != turn;
	}
	return corrupt;
}

static void map_file(const char *kind)
{
	size_t bytes = nr_pages * PAGE_SIZE_BYTES * (with_cut ? 2 : 1);

	if (!strcmp(kind, "memfd"))
		fd = syscall(SYS_memfd_create, "shared", 0);
	else
		fd = open(kind, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, bytes))
		die_errno(kind);
	if (*kind == '/')
		unlink(kind);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void map_memory(const char *kind)
{
	uint32_t bytes = nr_pages * PAGE_SIZE_BYTES;
	int id;

	if (!strcmp(kind, "shm")) {
		id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
		memory = shmat(id, NULL, 0);
		shmctl(id, IPC_RMID, NULL);
	} else if (!strcmp(kind, "anon")) {
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			      0);
	} else {
		map_file(kind);
	}
	if (memory == MAP_FAILED)
		die_errno(kind);
}

/* Returns the number of children that did not start, or did not exit with 0. */
static int run_children(int nr)
{
	int nr_failed = 0, nr_started = 0, status;

	for (; nr_started < nr; nr_started++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (!pid)
			_exit((with_cut && nr_started == nr - 1 ? run_cutter()
								: run_child(nr_started)) != 0);
	}
	for (int i = 0; i < nr_started; i++)
		nr_failed += wait(&status) < 0 || status;
	return nr_failed + nr - nr_started;
}

int main(int argc, char **argv)
{
	uint64_t start_ns, end_ns;
	uint32_t corrupt = 0;
	int nr, nr_failed;

	help_if_asked(argc, argv, HELP);
	seed = lab_seed(&argc, argv, DEFAULT_SEED);
	with_io = lab_flag(&argc, argv, "io");
	with_cut = lab_flag(&argc, argv, "cut");
	lab_operands(argc, argv, 4, 5, HELP);
	nr = parse_number(argv[2], "NPROC", 1, MAX_PROCESSES);
	nr_pages = lab_pages(argv, 3, "KB");
	refs = parse_number(argv[4], "REFS", 1, INT32_MAX);
	work = argc > 5 ? parse_number(argv[5], "WORK", 0, INT32_MAX) : 0;
	map_memory(argv[1]);
	if ((with_io || with_cut) && fd < 0)
		usage_error(HELP);

	start_ns = lab_now_ns();
	nr_failed = run_children(nr + with_cut);
	end_ns = lab_now_ns();
	for (int id = 0; id < nr; id++)
		corrupt += check_child(id);
	printf("R shared kind=%s nproc=%d kb=%u refs=%u run_us=%llu failed=%d corrupt=%u\n",
	       argv[1], nr, nr_pages * PAGE_KB, refs, lab_us(end_ns - start_ns), nr_failed,
	       corrupt);
	return corrupt || nr_failed;
}
