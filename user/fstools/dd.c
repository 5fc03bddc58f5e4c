/* dd: copies blocks from one file or device to another. */
#include "fstools.h"

#define SECTOR 512

struct copy {
	const char *from, *to;
	size_t block;
	long long count, skip, seek; /* blocks; count -1: to the end */
	int in_flags, out_flags;     /* of open */
	bool sync;
};

static bool starts(const char *word, const char *key, const char **value)
{
	size_t n = strlen(key);

	*value = word + n;
	return !strncmp(word, key, n);
}

/* Returns false if the word is not an operand of dd. */
static bool parse(struct copy *c, const char *word)
{
	const char *value;

	if (starts(word, "if=", &value))
		c->from = value;
	else if (starts(word, "of=", &value))
		c->to = value;
	else if (starts(word, "bs=", &value))
		c->block = parse_number(value, "bs", 1, 1 << 24);
	else if (starts(word, "count=", &value))
		c->count = parse_number(value, "count", 0, INT32_MAX);
	else if (starts(word, "skip=", &value))
		c->skip = parse_number(value, "skip", 0, INT32_MAX);
	else if (starts(word, "seek=", &value))
		c->seek = parse_number(value, "seek", 0, INT32_MAX);
	else if (!strcmp(word, "iflag=direct"))
		c->in_flags = O_DIRECT;
	else if (!strcmp(word, "oflag=direct"))
		c->out_flags = O_DIRECT;
	else if (!strcmp(word, "oflag=sync"))
		c->out_flags = O_SYNC;
	else if (!strcmp(word, "conv=fsync"))
		c->sync = true;
	else
		return false;
	return true;
}

/* Writes all of it: after a partial write, the next call returns the reason. The end of a file need
 * not be whole sectors. */
static void write_block(const struct copy *c, int out, const char *buf, ssize_t n)
{
	ssize_t done = 0, now;

	if (c->out_flags == O_DIRECT && n < (ssize_t)c->block && n % SECTOR)
		fcntl(out, F_SETFL, 0);
	for (; done < n; done += now) {
		now = write(out, buf + done, n - done);
		if (now < 0)
			die_errno(c->to);
	}
}

/* Returns the bytes copied, or -1 after a message. */
static long long copy_blocks(const struct copy *c, int in, int out)
{
	char *buf = aligned_alloc(SECTOR, c->block);
	long long done = 0;
	ssize_t n = 0;

	if (!buf || (c->skip && lseek(in, c->skip * c->block, SEEK_SET) < 0))
		die_errno(c->from);
	if (c->seek && lseek(out, c->seek * c->block, SEEK_SET) < 0)
		die_errno(c->to);
	for (long long i = 0; i != c->count && (n = read(in, buf, c->block)) > 0; i++) {
		write_block(c, out, buf, n);
		done += n;
	}
	free(buf);
	return n < 0 ? -failed(-1, c->from) : done;
}

int run_dd(int argc, char **argv)
{
	struct copy c = { "/dev/stdin", "/dev/stdout", SECTOR, -1, 0, 0, 0, 0, false };
	int in = 0, out = 1;
	long long done;

	for (int i = 1; i < argc; i++)
		if (!parse(&c, argv[i])) {
			warn_user("%s: not known", argv[i]);
			return 2;
		}
	if (strcmp(c.from, "/dev/stdin") && (in = open(c.from, O_RDONLY | c.in_flags)) < 0)
		die_errno(c.from);
	if (strcmp(c.to, "/dev/stdout") &&
	    (out = open(c.to, O_WRONLY | O_CREAT | (c.seek ? 0 : O_TRUNC) | c.out_flags, 0666)) < 0)
		die_errno(c.to);
	done = copy_blocks(&c, in, out);
	if (done < 0 || (c.sync && failed(fsync(out), c.to)))
		return 1;
	fprintf(stderr, "%lld bytes\n", done);
	return 0;
}
