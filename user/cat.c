/* cat: copies files, or standard input, to standard output. */
#include "lib.h"

#define HELP                                                                                       \
	"usage: cat [FILE...]\n"                                                                   \
	"Write the files, or standard input (also as -), to standard output.\n"

static char buf[16384];

static int copy(int fd, const char *name)
{
	ssize_t n, done, put;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (done = 0; done < n; done += put) {
			put = write(1, buf + done, n - done);
			if (put < 0)
				die_errno("write");
		}
	}
	if (n < 0)
		warn_errno(name);
	return n < 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	help_if_asked(argc, argv, HELP);
	if (argc == 1)
		return copy(0, "standard input");
	for (int i = 1; i < argc; i++) {
		bool is_stdin = !strcmp(argv[i], "-");
		int fd = is_stdin ? 0 : open(argv[i], O_RDONLY);

		if (fd < 0) {
			warn_errno(argv[i]);
			status = 1;
			continue;
		}
		status |= copy(fd, argv[i]);
		if (!is_stdin)
			close(fd);
	}
	return status;
}
