/* fstools: small tools for files and file systems, selected by the program's name. */
#include "fstools.h"

int failed(int result, const char *what)
{
	if (result >= 0)
		return 0;
	warn_errno(what);
	return 1;
}

static const struct tool *find(const struct tool *table, const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

static int list(void)
{
	printf("usage: under the name of a tool:");
	for (const struct tool *t = name_tools; t->name; t++)
		printf(" %s", t->name);
	for (const struct tool *t = mount_tools; t->name; t++)
		printf(" %s", t->name);
	puts("");
	return 0;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	const struct tool *t = find(name_tools, name);

	if (!t)
		t = find(mount_tools, name);
	if (!t)
		return list();
	help_if_asked(argc, argv, t->help);
	if (argc - 1 < t->min || (t->max && argc - 1 > t->max))
		usage_error(t->help);
	return t->run(argc, argv);
}
