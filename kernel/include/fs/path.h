/* Paths as text: cutting them into components. Pure. */
#ifndef FS_PATH_H
#define FS_PATH_H

#include "types.h"

struct path_name {
	const char *s; /* not NUL-terminated */
	u32 len;
	u32 hash; /* of the two, for the table of names */
};

/* A whole string as a name. */
struct path_name path_name_of(const char *s);

/* Cuts the next component off *path, skipping slashes before it; false: there is none. *path is
 * left at what follows the component: a slash or the end. */
bool path_next(const char **path, struct path_name *name);

/* Does no further component follow in path, as path_next left it? */
static inline bool path_at_end(const char *path)
{
	while (*path == '/')
		path++;
	return !*path;
}

static inline bool path_is_dot(const struct path_name *name)
{
	return name->len == 1 && name->s[0] == '.';
}

static inline bool path_is_dotdot(const struct path_name *name)
{
	return name->len == 2 && name->s[0] == '.' && name->s[1] == '.';
}

/* Is it the string s? */
bool path_name_is(const struct path_name *name, const char *s);

#endif
