/*
 * coldmap: reads a file that is not resident through a mapping, the last page first, and reports how many major faults
 * that took and how many pages were read that no fault had asked for. `random` advises MADV_RANDOM; `--kb` first fills
 * memory of its own.
 */
#include "lab.h"

#include <sys/resource.h>

#define HELP "usage: coldmap FILE [random] [--kb N]\n"
#define PAGE PAGE_SIZE_BYTES

/* Returns the counter from /proc/vmstat. */
static long counter(const char *name)
{
	static char text[8192];
	int fd = open("/proc/vmstat", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	const char *at;

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, name);
	if (!at)
		die_errno(name);
	return atol(at + strlen(name));
}

static long major_faults(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_majflt;
}

int main(int argc, char **argv)
{
	long faults = 0, ahead = 0;
	size_t kb, nr_pages;
	volatile char *own, *map;
	bool advises;
	int fd;

	help_if_asked(argc, argv, HELP);
	kb = lab_option(&argc, argv, "--kb", 0, 3 << 20, 0);
	advises = lab_flag(&argc, argv, "random");
	lab_operands(argc, argv, 1, 1, HELP);
	fd = open(argv[1], O_RDONLY);
	nr_pages = lseek(fd, 0, SEEK_END) / PAGE;
	own = mmap(NULL, kb * 1024 + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	map = mmap(NULL, nr_pages * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd < 0 || own == MAP_FAILED || map == MAP_FAILED)
		die_errno(argv[1]);
	if (advises && madvise((void *)map, nr_pages * PAGE, MADV_RANDOM))
		die_errno("madvise");
	for (size_t i = 0; i < kb * 1024; i += PAGE)
		own[i] = 1;
	/* The first pass reads nothing: it brings the program's own pages into memory. */
	for (size_t nr = 0; nr <= nr_pages; nr += nr_pages) {
		ahead = counter("\nfile_ra ");
		faults = major_faults();
		for (size_t i = nr; i-- > 0;)
			(void)map[i * PAGE];
		faults = major_faults() - faults;
		ahead = counter("\nfile_ra ") - ahead;
	}
	printf("R coldmap pages=%zu major=%ld ahead=%ld\n", nr_pages, faults, ahead);
	return 0;
}
