/* Paths as text. */
#include "fs/path.h"

#include "lib/string.h"

#define MULTIPLIER 0x9e3779b1u /* 2^32 divided by the golden ratio (Knuth, vol. 3, 6.4) */

/* Four bytes at a time. */
static u32 hash_of(const char *s, u32 len)
{
	u32 hash = len, word;

	for (; len >= sizeof(word); s += sizeof(word), len -= sizeof(word)) {
		__builtin_memcpy(&word, s, sizeof(word));
		hash = (hash ^ word) * MULTIPLIER;
	}
	for (word = 0; len; len--)
		word = word << 8 | (u8)*s++;
	hash = (hash ^ word) * MULTIPLIER;
	return hash ^ hash >> 16;
}

struct path_name path_name_of(const char *s)
{
	u32 len = strlen(s);

	return (struct path_name){ s, len, hash_of(s, len) };
}

bool path_next(const char **path, struct path_name *name)
{
	const char *s = *path;

	while (*s == '/')
		s++;
	name->s = s;
	while (*s && *s != '/')
		s++;
	name->len = s - name->s;
	name->hash = hash_of(name->s, name->len);
	*path = s;
	return name->len != 0;
}

bool path_at_end(const char *path)
{
	while (*path == '/')
		path++;
	return !*path;
}

bool path_name_is(const struct path_name *name, const char *s)
{
	return strlen(s) == name->len && !memcmp(name->s, s, name->len);
}
