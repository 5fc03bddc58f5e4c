/* The two places that a call with two paths names, like rename: paths with the directories they start from. */
#include "fs/vfs.h"
#include "internal.h"

int place_begin(struct path_at *p, int dirfd, const char *user)
{
	char *name;
	int err = path_copy(user, &name);

	if (err)
		return err;
	p->name = name;
	err = path_base(dirfd, name, &p->base);
	if (err)
		path_free(name);
	return err;
}

void place_end(struct path_at *p)
{
	path_free(p->name);
}
