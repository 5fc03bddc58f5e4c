/* Reads small files as text, such as those of /proc. */
#include "lib.h"

int read_file(const char *path, char *buf, size_t size)
{
	size_t used = 0;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return -1;
	while (used < size - 1 && (n = read(fd, buf + used, size - 1 - used)) > 0)
		used += n;
	close(fd);
	buf[used] = '\0';
	return n < 0 ? -1 : (int)used;
}

unsigned long long file_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (text) {
		if (!strncmp(text, key, len) &&
		    (isspace((unsigned char)text[len]) || text[len] == ':'))
			return strtoull(text + len + (text[len] == ':'), NULL, 10);
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return 0;
}
