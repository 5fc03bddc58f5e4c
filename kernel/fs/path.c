/* Paths as text. */
#include "fs/path.h"

#include "lib/string.h"

struct path_name path_name_of(const char *s)
{
	struct path_name name = { s, 0, PATH_HASH };

	for (; *s; s++, name.len++)
		name.hash = path_hash(name.hash, *s);
	return name;
}

bool path_name_is(const struct path_name *name, const char *s)
{
	return strlen(s) == name->len && !memcmp(name->s, s, name->len);
}
