/* Paths as text. */
#include "path.h"

#include "lib/string.h"

bool path_next(const char **path, struct path_name *name)
{
	const char *s = *path;

	while (*s == '/')
		s++;
	name->s = s;
	while (*s && *s != '/')
		s++;
	name->len = s - name->s;
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
