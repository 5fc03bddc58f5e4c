/* Paths as text: splitting them into components. Pure code. */
#ifndef FS_PATH_H
#define FS_PATH_H

#include "types.h"

struct path_name {
	const char *s; /* not NUL-terminated */
	u32 len;
	u32 hash; /* of s and len, for the table of names */
};

/* Returns a whole string as a name. */
struct path_name path_name_of(const char *s);

#define PATH_HASH 0x811c9dc5u /* FNV-1a (Fowler, Noll, Vo): small, and good enough for names */

/* Extends a hash by one character. */
static inline u32 path_hash(u32 hash, char c)
{
	return (hash ^ (u8)c) * 0x01000193u;
}

/* Takes the next component off *path, skipping the slashes before it. Returns false if there is
 * none. *path then points at what follows the component: a slash or the end. */
static inline bool path_next(const char **path, struct path_name *name)
{
	const char *s = *path, *start;
	u32 hash = PATH_HASH;

	while (*s == '/')
		s++;
	for (start = s; *s && *s != '/'; s++)
		hash = path_hash(hash, *s);
	*name = (struct path_name){ start, s - start, hash };
	*path = s;
	return s != start;
}

/* Returns true if no further component follows in path, as path_next left it. */
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

/* Returns true if the name equals the string s. */
bool path_name_is(const struct path_name *name, const char *s);

#endif
