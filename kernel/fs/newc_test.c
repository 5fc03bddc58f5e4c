/* Host tests of newc.c: archives built here, complete, truncated at every byte, and damaged. */
#include "newc.c"

#include "lib/ktap.h"
#include <stdio.h>
#include <stdlib.h>

#define ARCHIVE_MAX 8192

static u8 archive[ARCHIVE_MAX];
static u32 used;

static void pad(void)
{
	while (used % 4)
		archive[used++] = 0;
}

static void add(const char *name, u32 mode, const void *data, u32 size, u32 major, u32 minor)
{
	u32 namesize = strlen(name) + 1;

	used += sprintf((char *)archive + used, "070701%08x%08x%08x%08x%08x%08x%08x", 7u, mode, 0u,
			0u, 1u, 1234u, size);
	used += sprintf((char *)archive + used, "%08x%08x%08x%08X%08x%08x", 0u, 0u, major, minor,
			namesize, 0u);
	memcpy(archive + used, name, namesize);
	used += namesize;
	pad();
	memcpy(archive + used, data, size);
	used += size;
	pad();
}

/* Builds an archive: bin, bin/hello (7 bytes), dev/null, trailer. */
static void build(void)
{
	memset(archive, 0, sizeof(archive));
	used = 0;
	add("bin", 040755, "", 0, 0, 0);
	add("bin/hello", 0100755, "content", 7, 0, 0);
	add("dev/null", 020666, "", 0, 1, 3);
	add("TRAILER!!!", 0, "", 0, 0, 0);
}

/* Reads from an exact-size copy, so that the sanitizer reports a read beyond the end. */
static int read_all(const u8 *from, u32 size, u32 *nr, const char **why, u32 *where)
{
	u8 *copy = malloc(size ? size : 1);
	struct newc_reader r = { .archive = copy, .size = size };
	struct newc_entry e;
	u32 sum = 0;
	int err;

	memcpy(copy, from, size);
	for (*nr = 0; !(err = newc_next(&r, &e)); ++*nr)
		for (u32 i = 0; i < e.size; i++)
			sum += e.data[i];
	*why = r.wrong;
	*where = r.entry_offset;
	free(copy);
	return sum == ~0u ? 1 : err;
}

KTEST(newc, reads_every_field)
{
	struct newc_reader r = { .archive = archive };
	struct newc_entry e;

	build();
	r.size = used;
	EXPECT_EQ(newc_next(&r, &e), 0);
	EXPECT_STREQ(e.name, "bin");
	EXPECT_EQ(e.mode, 040755);
	EXPECT_EQ(newc_next(&r, &e), 0);
	EXPECT_STREQ(e.name, "bin/hello");
	EXPECT_EQ(e.size, 7);
	EXPECT_EQ(e.mtime_s, 1234);
	EXPECT_EQ(memcmp(e.data, "content", 7), 0);
	EXPECT_EQ(newc_next(&r, &e), 0);
	EXPECT_EQ(e.rdev, 1 << 8 | 3);
	EXPECT_EQ(newc_next(&r, &e), -ENOENT);
}

KTEST(newc, ignores_what_follows_the_trailer)
{
	const char *why;
	u32 nr, where;

	build();
	EXPECT_EQ(read_all(archive, used + 300, &nr, &why, &where), -ENOENT);
	EXPECT_EQ(nr, 3);
}

KTEST(newc, refuses_an_archive_cut_anywhere)
{
	const char *why;
	u32 nr, where, whole;

	build();
	whole = used;
	while (archive[whole - 1] == 0) /* the padding after the trailer's name may be missing */
		whole--;
	for (u32 size = 0; size <= whole; size++) {
		int err = read_all(archive, size, &nr, &why, &where);

		if (err == -EINVAL && why && where <= size)
			continue;
		ktap_note("cut to %u bytes: %d", size, err);
		EXPECT(false);
	}
}

KTEST(newc, says_what_is_missing)
{
	const char *why;
	u32 nr, where;

	build();
	read_all(archive, 0, &nr, &why, &where);
	EXPECT_STREQ(why, "the archive ends without a trailer");
	read_all(archive, 60, &nr, &why, &where);
	EXPECT_STREQ(why, "cut off inside a header");
	read_all(archive, 111, &nr, &why, &where);
	EXPECT_STREQ(why, "cut off inside a name");
	read_all(archive, 116 + 120 + 3, &nr, &why, &where);
	EXPECT_STREQ(why, "cut off inside the data of a file");
	EXPECT_EQ(where, 116);
}

KTEST(newc, names_foreign_formats)
{
	static const u8 gzip[200] = { 0x1f, 0x8b };
	const char *why;
	u32 nr, where;

	EXPECT_EQ(read_all(gzip, sizeof(gzip), &nr, &why, &where), -EINVAL);
	EXPECT_STREQ(why, "compressed with gzip; only plain newc is understood");
	build();
	archive[5] = '7';
	EXPECT_EQ(read_all(archive, used, &nr, &why, &where), -EINVAL);
	EXPECT_STREQ(why, "another form of cpio; make it with -H newc");
	build();
	archive[110 + strlen("bin")] = 'x';
	EXPECT_EQ(read_all(archive, used, &nr, &why, &where), -EINVAL);
	EXPECT_STREQ(why, "a name does not end where it should");
}

KTEST(newc, refuses_sizes_that_wrap_around)
{
	const char *why;
	u32 nr, where;

	build();
	memcpy(archive + 116 + 6 + 6 * 8, "fffffffd", 8); /* file size of bin/hello */
	EXPECT_EQ(read_all(archive, used, &nr, &why, &where), -EINVAL);
	EXPECT_STREQ(why, "cut off inside the data of a file");
	build();
	memcpy(archive + 6 + 11 * 8, "ffffffff", 8); /* length of the first name */
	EXPECT_EQ(read_all(archive, used, &nr, &why, &where), -EINVAL);
	EXPECT_STREQ(why, "the length of a name is out of range");
}

KTEST(newc, survives_random_damage)
{
	u32 seed = getenv("SEED") ? (u32)atoi(getenv("SEED")) : 20240501, nr, where;
	const char *why;

	ktap_note("seed %u", seed);
	for (int i = 0; i < 20000; i++) {
		int err;

		build();
		for (int n = ktap_random(&seed) % 4; n >= 0; n--)
			archive[ktap_random(&seed) % used] = ktap_random(&seed);
		err = read_all(archive, used, &nr, &why, &where);
		if (err != -ENOENT && err != -EINVAL)
			EXPECT_EQ(err, -EINVAL);
	}
}
