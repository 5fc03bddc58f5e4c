/* Paths as text. */
#include "fs/path.h"

#include "lib/string.h"

#define FIRST 0x811c9dc5u /* FNV-1a (Fowler, Noll, Vo): small, and good enough for names */
#define PRIME 0x01000193u

struct path_name path_name_of(const char *s)
{
	struct path_name name = { s, 0, FIRST };

	for (; *s; s++, name.len++)
		name.hash = (name.hash ^ (u8)*s) * PRIME;
	return name;
}

bool path_next(const char **path, struct path_name *name)
{
	const char *s = *path, *start;
	u32 hash = FIRST;

	while (*s == '/')
		s++;
	for (start = s; *s && *s != '/'; s++)
		hash = (hash ^ (u8)*s) * PRIME;
	*name = (struct path_name){ start, s - start, hash };
	*path = s;
	return s != start;
}

bool path_name_is(const struct path_name *name, const char *s)
{
	return strlen(s) == name->len && !memcmp(name->s, s, name->len);
}
