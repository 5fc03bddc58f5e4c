/* cp: copies files. */
#include "lib.h"

#define HELP                                                                                       \
	"usage: cp FILE COPY\n       cp FILE... DIR\n"                                             \
	"Copy a file, or files into a directory.\n"

static char buf[16384];

static int copy(const char *from, const char *to)
{
	ssize_t n = 0, put = 0;
	struct stat st;
	int in = open(from, O_RDONLY), out;

	if (in < 0 || fstat(in, &st)) {
		warn_errno(from);
		return 1;
	}
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC, st.st_mode & 0777);
	if (out < 0) {
		warn_errno(to);
		close(in);
		return 1;
	}
	while (put == n && (n = read(in, buf, sizeof(buf))) > 0)
		put = write(out, buf, n);
	if (n < 0 || put < 0)
		warn_errno(n < 0 ? from : to);
	else if (n)
		warn_user("%s: no room for all of it", to);
	close(in);
	close(out);
	return n != 0;
}

int main(int argc, char **argv)
{
	const char *to = argv[argc - 1], *base;
	bool to_directory;
	char path[1024];
	struct stat st;
	int status = 0;

	help_if_asked(argc, argv, HELP);
	to_directory = argc > 2 && !stat(to, &st) && S_ISDIR(st.st_mode);
	if (argc < 3 || (argc > 3 && !to_directory))
		usage_error(HELP);
	for (int i = 1; i < argc - 1; i++) {
		base = strrchr(argv[i], '/');
		snprintf(path, sizeof(path), "%s/%s", to, base ? base + 1 : argv[i]);
		status |= copy(argv[i], to_directory ? path : to);
	}
	return status;
}
