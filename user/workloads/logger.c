/*
 * logger: a log in which every line is on the disk before the next one is written.
 *
 * A line has its number and a text derived from it. fsync follows each line, and its duration is
 * the result of the workload. An existing log is first read completely: the next run must find what
 * a run guaranteed, also after a power cut, since a line counts as written once fsync has returned.
 * Then the log is continued after the last complete line.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: logger PATH LINES\n"                                                               \
	"Read all lines of the log that are there, and check them; then append LINES lines\n"      \
	"(0: none), with fsync after each.\n"

enum { LINE = 64 };

static void make_line(char *line, uint32_t nr)
{
	int n = snprintf(line, LINE, "%08u ", nr);

	for (; n < LINE - 1; n++)
		line[n] = 'a' + (lab_word(nr) + n) % 26;
	line[LINE - 1] = '\n';
}

/* Returns the number of complete lines; counts those that differ from what was written. */
static uint32_t read_log(int fd, uint32_t *corrupt)
{
	char line[LINE], wanted[LINE];
	uint32_t nr = 0;

	while (read(fd, line, LINE) == LINE) {
		make_line(wanted, nr++);
		*corrupt += memcmp(line, wanted, LINE) != 0;
	}
	return nr;
}

static void append(int fd, uint32_t nr)
{
	char line[LINE];

	make_line(line, nr);
	if (pwrite(fd, line, LINE, (off_t)nr * LINE) != LINE)
		die_errno("write");
	if (fsync(fd))
		die_errno("fsync");
}

int main(int argc, char **argv)
{
	uint32_t lines, found, corrupt = 0;
	uint64_t *line_ns, start_ns, t;
	int fd;

	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 2, 2, HELP);
	lines = parse_number(argv[2], "LINES", 0, 1000000);
	line_ns = lab_times(lines + 1);
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		die_errno(argv[1]);
	found = read_log(fd, &corrupt);
	start_ns = lab_now_ns();
	for (uint32_t i = 0; i < lines; i++) {
		t = lab_now_ns();
		append(fd, found + i);
		line_ns[i] = lab_now_ns() - t;
	}
	t = lab_now_ns();
	if (lines)
		lab_spread("logger_line", line_ns, lines, 1, "ns");
	printf("R logger found=%u lines=%u run_us=%llu corrupt=%u\n", found, lines,
	       lab_us(t - start_ns), corrupt);
	return corrupt != 0;
}
