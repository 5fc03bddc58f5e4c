/* wc: counts lines, words and bytes. */
#include "lib.h"

#define HELP                                                                                       \
	"usage: wc [-lwc] [FILE...]\n"                                                             \
	"Count lines (-l), words (-w) and bytes (-c) of files or standard\n"                       \
	"input; all three when none is asked for.\n"

enum { LINES, WORDS, BYTES, NR_COUNTS };

struct counts {
	unsigned long number[NR_COUNTS];
};

static bool wanted[NR_COUNTS];
static char buf[16384];

static int count(int fd, struct counts *c)
{
	bool in_word = false;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		c->number[BYTES] += n;
		for (ssize_t i = 0; i < n; i++) {
			bool blank = isspace((unsigned char)buf[i]);

			c->number[LINES] += buf[i] == '\n';
			c->number[WORDS] += !blank && !in_word;
			in_word = !blank;
		}
	}
	return n < 0;
}

static void print(const struct counts *c, const char *name)
{
	const char *blank = "";

	for (int i = 0; i < NR_COUNTS; i++) {
		if (!wanted[i])
			continue;
		printf("%s%7lu", blank, c->number[i]);
		blank = " ";
	}
	printf("%s%s\n", *name ? " " : "", name);
}

int main(int argc, char **argv)
{
	struct counts total = { 0 }, one = { 0 };
	int c, fd, status = 0;

	help_if_asked(argc, argv, HELP);
	while ((c = getopt(argc, argv, "lwc")) != -1) {
		if (c == '?')
			usage_error(HELP);
		wanted[c == 'l' ? LINES : c == 'w' ? WORDS : BYTES] = true;
	}
	if (!wanted[LINES] && !wanted[WORDS] && !wanted[BYTES])
		wanted[LINES] = wanted[WORDS] = wanted[BYTES] = true;
	if (optind == argc) {
		status = count(0, &one);
		print(&one, "");
		return status;
	}
	for (int i = optind; i < argc; i++) {
		one = (struct counts){ 0 };
		fd = open(argv[i], O_RDONLY);
		if (fd < 0 || count(fd, &one)) {
			warn_errno(argv[i]);
			status = 1;
		} else {
			print(&one, argv[i]);
		}
		close(fd);
		for (int n = 0; n < NR_COUNTS; n++)
			total.number[n] += one.number[n];
	}
	if (argc - optind > 1)
		print(&total, "total");
	return status;
}
