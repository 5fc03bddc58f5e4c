/*
 * fsops ROOT SCRIPT [ADDRESS]: performs a script below ROOT with system calls; commands and answers are
 * those of the host's program (tests/host/ext2/main.c).
 *
 * The grader must know from outside which steps were answered before the power fails. So after each step
 * the program stores to a page of its own, which a plugin of QEMU sees: after step n (0: the first) to page
 * 2n from ADDRESS on, and to page 2n + 1 if the step failed or wrote too little. Without ADDRESS it does not.
 */
#include "lib.h"
#include <sys/mman.h>
#include <sys/sysmacros.h>

#define HELP                                                                                                  \
	"usage: fsops ROOT SCRIPT [ADDRESS]\nDo what a script says to the files below ROOT; print answers.\n" \
	"ADDRESS: store to a page for each step, from this address on.\n"

enum { WORDS = 5, CHUNK = 1 << 16, PAGE = 4096 };

static const char *root;
static char bytes[CHUNK];
static bool wrote_too_little;

static void decode(char *s)
{
	char *to = s;

	for (; *s; s++) {
		char hex[3] = { s[0] == '%' ? s[1] : 0, s[0] == '%' ? s[2] : 0, 0 };

		*to++ = *hex ? (char)strtoul(hex, NULL, 16) : *s;
		s += *hex ? 2 : 0;
	}
	*to = '\0';
}

static long answer(long result)
{
	return result < 0 ? -errno : result;
}

static char *below(int i, const char *path)
{
	static char paths[2][4096];

	snprintf(paths[i], sizeof(paths[i]), "%s%s", root, path);
	return paths[i];
}

static long closing(int fd, long result)
{
	result = answer(result);
	close(fd);
	return result;
}

static long make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);

	return fd < 0 ? answer(fd) : closing(fd, 0);
}

static long write_some(int fd, long offset, long length, unsigned seed)
{
	long done;

	if (fd < 0 || length > CHUNK)
		return -1;
	for (long i = 0; i < length; i++)
		bytes[i] = seed + i * 7 + i / 256;
	done = pwrite(fd, bytes, length, offset);
	wrote_too_little = done >= 0 && done < length;
	return done;
}

static long read_some(int fd, long offset, long length)
{
	uint32_t sum = 2166136261u;
	long done = fd < 0 || length > CHUNK ? -1 : pread(fd, bytes, length, offset);

	for (long i = 0; i < done; i++)
		sum = (sum ^ (uint8_t)bytes[i]) * 16777619u;
	if (done >= 0)
		printf("%08x ", sum);
	return done;
}

static long show(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return -errno;
	printf("%o %u %lld %lld %x ", st.st_mode, (unsigned)st.st_nlink, (long long)st.st_size,
	       (long long)st.st_blocks, (unsigned)st.st_rdev);
	return 0;
}

static long drop_caches(void)
{
	int fd;

	sync();
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
	if (fd >= 0) {
		(void)!write(fd, "3", 1);
		close(fd);
	}
	return 0;
}

static long on_content(const char *what, const char *path, char **word)
{
	int fd =
		open(path, strcmp(what, "fsync") ? O_RDWR : O_RDONLY); /* fsync: also a directory */

	if (fd < 0)
		return -errno;
	if (!strcmp(what, "write"))
		return closing(fd, write_some(fd, atol(word[2]), atol(word[3]), atoi(word[4])));
	if (!strcmp(what, "read"))
		return closing(fd, read_some(fd, atol(word[2]), atol(word[3])));
	if (!strcmp(what, "truncate"))
		return closing(fd, ftruncate(fd, atol(word[2])));
	return closing(fd, fsync(fd));
}

static long on_names(const char *what, const char *path, char **word)
{
	if (!strcmp(what, "create"))
		return make_file(path);
	if (!strcmp(what, "mkdir"))
		return answer(mkdir(path, 0755));
	if (!strcmp(what, "fifo"))
		return answer(mkfifo(path, 0600));
	if (!strcmp(what, "unlink"))
		return answer(unlink(path));
	if (!strcmp(what, "rmdir"))
		return answer(rmdir(path));
	if (!strcmp(what, "link"))
		return answer(link(path, below(1, word[2])));
	if (!strcmp(what, "rename"))
		return answer(rename(path, below(1, word[2])));
	if (!strcmp(what, "stat"))
		return show(path);
	return on_content(what, path, word);
}

static long run(char *line)
{
	char *word[WORDS] = { "", "", "", "", "" };

	for (int n = 0; n < WORDS && (word[n] = strtok(n ? NULL : line, " \n")); n++)
		decode(word[n]);
	if (!word[0] || strstr(" flush cut close ", word[0])) /* only for the host */
		return 0;
	if (!strcmp(word[0], "sync"))
		return sync(), 0;
	if (!strcmp(word[0], "drop"))
		return drop_caches();
	if (!strcmp(word[0], "symlink"))
		return answer(symlink(word[1], below(0, word[2])));
	if (!strcmp(word[0], "node"))
		return answer(mknod(below(0, word[4]), S_IFCHR | 0600,
				    makedev(atoi(word[2]), atoi(word[3]))));
	return on_names(word[0], below(0, word[1]), word);
}

/* Stores to the page with this number. */
static void mark(char *first, long page)
{
	char *at = first + page * PAGE;

	if (mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != at)
		die_errno("mmap");
	*at = 1;
}

/* Does the step, prints its answer, and returns it. */
static long perform(char *line)
{
	long result;

	wrote_too_little = false;
	result = run(line);
	printf("%ld\n", result);
	return result;
}

int main(int argc, char **argv)
{
	static char line[8192];
	char *marks;
	long n = 0;
	FILE *script;

	help_if_asked(argc, argv, HELP);
	if (argc != 3 && argc != 4)
		usage_error(HELP);
	root = argv[1];
	marks = argc == 4 ? (char *)strtoul(argv[3], NULL, 0) : NULL;
	script = fopen(argv[2], "r");
	if (!script)
		die_errno(argv[2]);
	umask(0);
	puts("answers:");
	for (; fgets(line, sizeof(line), script); n++) {
		long result = perform(line);

		if (marks)
			mark(marks, 2 * n + (result < 0 || wrote_too_little));
	}
	puts("end");
	return 0;
}
