/* Host tests of path.c. */
#include "path.c"

#include "lib/ktap.h"

/* Joins the components of a path by bars, with "/" at the end if a slash ends the path. */
static const char *cut(const char *path)
{
	static char out[256];
	struct path_name name;

	out[0] = '\0';
	while (path_next(&path, &name)) {
		strcat(out, "|");
		strncat(out, name.s, name.len);
		if (path_at_end(path) && *path == '/')
			strcat(out, "/");
	}
	return out;
}

KTEST(path, cuts_at_slashes)
{
	EXPECT_STREQ(cut("usr/bin/vi"), "|usr|bin|vi");
	EXPECT_STREQ(cut("/usr/bin/vi"), "|usr|bin|vi");
	EXPECT_STREQ(cut("a"), "|a");
}

KTEST(path, repeated_slashes_count_as_one)
{
	EXPECT_STREQ(cut("//usr///bin"), "|usr|bin");
	EXPECT_STREQ(cut("usr//"), "|usr/");
}

KTEST(path, dots_are_components)
{
	EXPECT_STREQ(cut("./../.x"), "|.|..|.x");
}

KTEST(path, nothing_in_empty_and_root)
{
	EXPECT_STREQ(cut(""), "");
	EXPECT_STREQ(cut("/"), "");
	EXPECT_STREQ(cut("///"), "");
}

KTEST(path, a_name_has_one_hash)
{
	struct path_name name, whole = path_name_of("usr");
	const char *path = "/usr/bin";

	EXPECT(path_next(&path, &name));
	EXPECT_EQ(name.len, whole.len);
	EXPECT_EQ(name.hash, whole.hash);
	EXPECT(path_next(&path, &name));
	EXPECT(name.hash != whole.hash);
}

KTEST(path, compares_whole_names)
{
	struct path_name name = { .s = "binary", .len = 3 };

	EXPECT(path_name_is(&name, "bin"));
	EXPECT(!path_name_is(&name, "binary"));
	EXPECT(!path_name_is(&name, "bi"));
	EXPECT(!path_name_is(&name, ""));
}
