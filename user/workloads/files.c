/*
 * files: the costs of file system calls, each measured separately.
 *
 * The same binary runs on Linux for i386. The time of many equal calls is measured and divided by
 * their number. The calls are enclosed in two instructions without effect, which tell QEMU's plugin
 * (mode=count) what to count: the instructions of the whole machine, but not the time it waits for
 * a disk. Data are checked, after the measurement if that takes long.
 *
 * `copy` shows the cost of copying: it makes the same call with a whole page and with one byte. The
 * difference is that cost.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: files OPERATION PATH [N]\n"                                                        \
	"Measure calls on files below the directory PATH, N times. OPERATION is one of\n"          \
	"  random     read 4 KiB anywhere in the file PATH/random, N times (1000)\n"               \
	"  sequential read the file PATH/big from end to end, 64 KiB at a time (1)\n"              \
	"  open_read  open, read 4 KiB, close (15 times 100)\n"                                    \
	"  create     creat, close, unlink (15 times 100)\n"                                       \
	"  write      write 4 KiB, at a file's end and over what is there (15 times 256)\n"        \
	"  copy       read and write a page or a byte (15 times 256)\n"                            \
	"  mmap       map a file, touch its pages, unmap (15 times 256)\n"                         \
	"  untar      make 2,000 files of 1 to 4 KiB in 40 directories, sync (3)\n"                \
	"  find       look at each of those (15); after untar\n"                                   \
	"or `all` of them in this order. Page p of big and random has the words\n"                 \
	"p * 2654435761 + i. Random reads and sequential ones are of the disk only the\n"          \
	"first time.\n"

enum { NR_PAGES = 256, NR_CALLS = 100, PIECE_PAGES = 16, MAX_TIMES = 100000 };
enum { NR_DIRECTORIES = 40, FILES_EACH = 50, LEAST_BYTES = 1024, DEFAULT_SEED = 88172645 };
enum { FILE_MODE = 0644, DIRECTORY_MODE = 0755, NAME_BYTES = 16, PATH_BYTES = 1024 };

typedef uint32_t page_words[WORDS_PER_PAGE];

static page_words buffer[NR_PAGES], expected;
static uint64_t *times, start_ns;
static int nr_times, repeats;
static uint32_t corrupt;

/* nopl N(%eax): visible only to the plugin. The number of calls is in ecx. */
#define BEGIN_MARK 0x74696400
#define END_MARK 0x74696401
#define MARK(number, nr_calls)                                                                     \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80; .long %c0"                                       \
			 :                                                                         \
			 : "i"(number), "c"(nr_calls)                                              \
			 : "memory")

static inline void begin(void)
{
	start_ns = lab_now_ns();
	MARK(BEGIN_MARK, 0);
}

static inline void end(uint32_t nr_calls)
{
	MARK(END_MARK, nr_calls);
	times[nr_times++] = lab_now_ns() - start_ns;
}

static void report(const char *name, uint32_t nr_calls)
{
	lab_spread(name, times, nr_times, nr_calls, "ns");
	nr_times = 0;
}

static int must(int result, const char *what)
{
	if (result < 0)
		die_errno(what);
	return result;
}

/* Fails unless all bytes were moved: a short count sets no errno, but is not expected here. */
static void must_move(ssize_t moved, size_t bytes, const char *what)
{
	must(moved, what);
	if ((size_t)moved == bytes)
		return;
	warn_user("%s: %zd bytes instead of %zu", what, moved, bytes);
	exit(1);
}

static void fill_page(uint32_t *words, uint32_t page)
{
	for (uint32_t i = 0; i < WORDS_PER_PAGE; i++)
		words[i] = lab_word(page) + i;
}

static void check_page(const uint32_t *words, uint32_t page, size_t bytes)
{
	fill_page(expected, page);
	corrupt += memcmp(words, expected, bytes) != 0;
}

static void fill_buffer(uint32_t first)
{
	for (uint32_t p = 0; p < NR_PAGES; p++)
		fill_page(buffer[p], first + p);
}

static void check_buffer(uint32_t first)
{
	for (uint32_t p = 0; p < NR_PAGES; p++)
		check_page(buffer[p], first + p, PAGE_SIZE_BYTES);
}

/* Creates a file of NR_PAGES pages, with the pattern from page @first on, open for both. */
static int new_file(const char *name, uint32_t first)
{
	int fd = must(open(name, O_RDWR | O_CREAT | O_TRUNC, FILE_MODE), name);

	fill_buffer(first);
	must_move(write(fd, buffer, sizeof(buffer)), sizeof(buffer), name);
	return fd;
}

static void remove_file(const char *name, int fd)
{
	must(close(fd), name);
	must(unlink(name), name);
}

static void measure_random(void)
{
	uint32_t state = DEFAULT_SEED, page;
	struct stat st;
	int fd = must(open("random", O_RDONLY), "random");

	must(fstat(fd, &st), "random");
	for (int i = 0; i < repeats; i++) {
		page = lab_random(&state) % (st.st_size / PAGE_SIZE_BYTES);
		begin();
		ssize_t got = pread(fd, buffer, PAGE_SIZE_BYTES, (off_t)page * PAGE_SIZE_BYTES);
		end(1);
		must_move(got, PAGE_SIZE_BYTES, "random");
		check_page(buffer[0], page, PAGE_SIZE_BYTES);
	}
	close(fd);
	report("random_read_4K", 1);
}

/* Reads the file once from its position to its end. Checking a word of each page is part of the
 * program's own cost. */
static uint32_t read_pieces(int fd, bool whole)
{
	uint32_t page = 0, nr;
	ssize_t got;

	while ((got = read(fd, buffer, PIECE_PAGES * PAGE_SIZE_BYTES)) > 0) {
		nr = got / PAGE_SIZE_BYTES;
		for (uint32_t p = 0; p < nr; p++, page++) {
			corrupt += buffer[p][0] != lab_word(page);
			if (whole)
				check_page(buffer[p], page, PAGE_SIZE_BYTES);
		}
	}
	must(got, "big");
	return page;
}

static void measure_sequential(void)
{
	uint32_t nr_pages = 0;
	int fd = must(open("big", O_RDONLY), "big");

	for (int i = 0; i < repeats; i++) {
		must(lseek(fd, 0, SEEK_SET), "big");
		begin();
		nr_pages = read_pieces(fd, false);
		end(nr_pages);
	}
	must(lseek(fd, 0, SEEK_SET), "big");
	if (read_pieces(fd, true) != nr_pages || !nr_pages)
		corrupt++;
	close(fd);
	report("sequential_read_page", nr_pages ? nr_pages : 1);
}

static void measure_open_read(void)
{
	int fd = new_file("files.tmp", 1);

	for (int i = 0; i < repeats; i++) {
		memset(buffer, 0, sizeof(buffer));
		begin();
		for (int k = 0; k < NR_CALLS; k++) {
			int again = open("files.tmp", O_RDONLY);

			must_move(read(again, buffer[k], PAGE_SIZE_BYTES), PAGE_SIZE_BYTES, "read");
			close(again);
		}
		end(NR_CALLS);
		for (int k = 0; k < NR_CALLS; k++)
			check_page(buffer[k], 1, PAGE_SIZE_BYTES);
	}
	remove_file("files.tmp", fd);
	report("open_read_4K_close", NR_CALLS);
}

static void measure_create(void)
{
	for (int i = 0; i < repeats; i++) {
		begin();
		for (int k = 0; k < NR_CALLS; k++) {
			close(must(creat("files.tmp", FILE_MODE), "creat"));
			must(unlink("files.tmp"), "unlink");
		}
		end(NR_CALLS);
		corrupt += access("files.tmp", F_OK) == 0;
	}
	report("create_unlink", NR_CALLS);
}

/* Measures NR_PAGES writes from the current position; then reads everything back. */
static void write_pages(int fd, uint32_t first)
{
	fill_buffer(first);
	begin();
	for (uint32_t p = 0; p < NR_PAGES; p++)
		must_move(write(fd, buffer[p], PAGE_SIZE_BYTES), PAGE_SIZE_BYTES, "write");
	end(NR_PAGES);
	memset(buffer, 0, sizeof(buffer));
	must_move(pread(fd, buffer, sizeof(buffer), 0), sizeof(buffer), "read back");
	check_buffer(first);
}

static void measure_write(void)
{
	int fd;

	for (int i = 0; i < repeats; i++) {
		fd = must(open("files.tmp", O_RDWR | O_CREAT | O_TRUNC, FILE_MODE), "files.tmp");
		write_pages(fd, i);
		remove_file("files.tmp", fd);
	}
	report("write_4K_append", NR_PAGES);
	fd = new_file("files.tmp", 0);
	for (int i = 0; i < repeats; i++) {
		must(lseek(fd, 0, SEEK_SET), "files.tmp");
		write_pages(fd, i);
	}
	remove_file("files.tmp", fd);
	report("write_4K_over", NR_PAGES);
}

typedef ssize_t positioned(int fd, void *page, size_t bytes, off_t at);

static ssize_t write_at(int fd, void *page, size_t bytes, off_t at)
{
	return pwrite(fd, page, bytes, at);
}

static void measure_positioned(const char *name, positioned *call, size_t bytes)
{
	int fd = new_file("files.tmp", 0);

	for (int i = 0; i < repeats; i++) {
		begin();
		for (uint32_t p = 0; p < NR_PAGES; p++)
			must_move(call(fd, buffer[p], bytes, p * PAGE_SIZE_BYTES), bytes, name);
		end(NR_PAGES);
		check_buffer(0);
	}
	must_move(pread(fd, buffer, sizeof(buffer), 0), sizeof(buffer), "read back");
	check_buffer(0);
	remove_file("files.tmp", fd);
	report(name, NR_PAGES);
}

static void measure_copy(void)
{
	measure_positioned("pread_4096", pread, PAGE_SIZE_BYTES);
	measure_positioned("pread_1", pread, 1);
	measure_positioned("pwrite_4096", write_at, PAGE_SIZE_BYTES);
	measure_positioned("pwrite_1", write_at, 1);
}

static void *map_file(int fd)
{
	void *map = mmap(NULL, sizeof(buffer), PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		die_errno("mmap");
	return map;
}

static void touch_pages(void *map)
{
	for (uint32_t p = 0; p < NR_PAGES; p++)
		corrupt += *lab_at(map, p, 0) != lab_word(p);
}

static void measure_mmap(void)
{
	int fd = new_file("files.tmp", 0);
	void *map;

	for (int i = 0; i < repeats; i++) {
		map = map_file(fd);
		begin();
		touch_pages(map);
		end(NR_PAGES);
		corrupt += memcmp(map, buffer, sizeof(buffer)) != 0;
		must(munmap(map, sizeof(buffer)), "munmap");
	}
	report("mmap_touch", NR_PAGES);
	for (int i = 0; i < repeats; i++) {
		begin();
		map = map_file(fd);
		touch_pages(map);
		must(munmap(map, sizeof(buffer)), "munmap");
		end(NR_PAGES);
	}
	remove_file("files.tmp", fd);
	report("mmap_touch_munmap", NR_PAGES);
}

/*
 * File @i of a tree, in order: sets its name and returns its size in bytes; advances @state.
 * Printing the names would take a large part of the measured time.
 */
static size_t small_file(uint32_t i, uint32_t *state, char *name)
{
	uint32_t d = i / FILES_EACH, f = i % FILES_EACH;

	memcpy(name, "d00/f00", sizeof("d00/f00"));
	name[1] += d / 10;
	name[2] += d % 10;
	name[5] += f / 10;
	name[6] += f % 10;
	return LEAST_BYTES + lab_random(state) % (PAGE_SIZE_BYTES - LEAST_BYTES + 1);
}

static void make_tree(void)
{
	uint32_t state = DEFAULT_SEED;
	char name[NAME_BYTES];

	for (uint32_t i = 0; i < NR_DIRECTORIES * FILES_EACH; i++) {
		size_t bytes = small_file(i, &state, name);

		if (i % FILES_EACH == 0) {
			name[3] = '\0';
			must(mkdir(name, DIRECTORY_MODE), name);
			name[3] = '/';
		}
		int fd = must(creat(name, FILE_MODE), name);

		must_move(write(fd, buffer[i % NR_PAGES], bytes), bytes, name);
		close(fd);
	}
}

static void check_tree(void)
{
	uint32_t state = DEFAULT_SEED;
	char name[NAME_BYTES];

	for (uint32_t i = 0; i < NR_DIRECTORIES * FILES_EACH; i++) {
		size_t bytes = small_file(i, &state, name);
		int fd = must(open(name, O_RDONLY), name);
		page_words page;

		must_move(read(fd, page, sizeof(page)), bytes, name);
		check_page(page, i % NR_PAGES, bytes);
		close(fd);
	}
}

static void measure_untar(void)
{
	char name[NAME_BYTES];

	fill_buffer(0);
	for (int i = 0; i < repeats; i++) {
		sprintf(name, "tree%d", i);
		must(mkdir(name, DIRECTORY_MODE), name);
		must(chdir(name), name);
		begin();
		make_tree();
		sync();
		end(NR_DIRECTORIES * FILES_EACH);
		check_tree();
		must(chdir(".."), "..");
	}
	report("untar_file", NR_DIRECTORIES * FILES_EACH);
}

struct found {
	uint32_t nr_files, nr_bytes;
};

static void find(const char *directory, struct found *found)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	char path[PATH_BYTES];
	struct stat st;

	if (!dir)
		die_errno(directory);
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		stpcpy(stpcpy(stpcpy(path, directory), "/"), entry->d_name);
		must(lstat(path, &st), path);
		if (S_ISDIR(st.st_mode)) {
			find(path, found);
		} else {
			found->nr_files++;
			found->nr_bytes += st.st_size;
		}
	}
	closedir(dir);
}

static void measure_find(void)
{
	uint32_t state = DEFAULT_SEED, nr_files = NR_DIRECTORIES * FILES_EACH, nr_bytes = 0;
	char name[NAME_BYTES];

	for (uint32_t i = 0; i < nr_files; i++)
		nr_bytes += small_file(i, &state, name);
	for (int i = 0; i < repeats; i++) {
		struct found found = { 0, 0 };

		begin();
		find("tree0", &found);
		end(nr_files);
		corrupt += found.nr_files != nr_files || found.nr_bytes != nr_bytes;
	}
	report("find_file", nr_files);
}

static const struct operation {
	const char *name;
	void (*measure)(void);
	int repeats;
} operations[] = {
	{ "random", measure_random, 1000 },     { "sequential", measure_sequential, 1 },
	{ "open_read", measure_open_read, 15 }, { "create", measure_create, 15 },
	{ "write", measure_write, 15 },         { "copy", measure_copy, 15 },
	{ "mmap", measure_mmap, 15 },           { "untar", measure_untar, 3 },
	{ "find", measure_find, 15 },
};

int main(int argc, char **argv)
{
	int nr_done = 0;

	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 2, 3, HELP);
	int given = argc > 3 ? parse_number(argv[3], "N", 1, MAX_TIMES) : 0;

	times = lab_times(MAX_TIMES);
	must(chdir(argv[2]), argv[2]);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		if (strcmp(argv[1], "all") && strcmp(argv[1], operations[i].name))
			continue;
		repeats = given ? given : operations[i].repeats;
		operations[i].measure();
		nr_done++;
	}
	if (!nr_done)
		usage_error(HELP);
	printf("R files operation=%s corrupt=%u\n", argv[1], corrupt);
	return corrupt != 0;
}
