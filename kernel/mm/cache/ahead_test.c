/* Tests which pages are read ahead, for page-by-page requests. */
#include "ahead.c"
#include "lib/ktap.h"

u32 readahead_kb = 128; /* of around.c */

KTEST(readahead, grows_while_the_reader_goes_on)
{
	static const u32 sizes[] = { 8, 16, 32, 32, 32 };
	struct readahead a = { 0 };
	u32 at = 0, early = 0, read = readahead_miss(&a, 0, 1);

	EXPECT_EQ(read, 4);
	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++) {
		EXPECT(readahead_follow(&a, at++));
		EXPECT_EQ(a.start, read);
		EXPECT_EQ(a.size, sizes[i]);
		if (a.size != sizes[i])
			return;
		while (at < a.start)
			early += readahead_follow(&a, at++);
		EXPECT_EQ(early, 0);
		read += a.size;
	}
}

KTEST(readahead, gives_a_random_reader_what_he_asks_for)
{
	struct readahead a = { 0 };

	EXPECT_EQ(readahead_miss(&a, 0, 1), 4);
	EXPECT(readahead_follow(&a, 0));
	EXPECT_EQ(readahead_miss(&a, 1000, 1), 1);
	EXPECT(!readahead_follow(&a, 1000));
	EXPECT_EQ(readahead_miss(&a, 500, 3), 3);
	EXPECT(!readahead_follow(&a, 500));
	/* and sequential again, from the smallest window on */
	EXPECT_EQ(readahead_miss(&a, 501, 1), 4);
}

KTEST(readahead, reads_no_less_than_is_needed)
{
	struct readahead a = { 0 };

	EXPECT_EQ(readahead_miss(&a, 0, 20), 20);
	EXPECT_EQ(readahead_miss(&a, 70, 100), 32);
}

KTEST(readahead, heeds_advice)
{
	struct readahead random = { .advice = READ_RANDOM };
	struct readahead sequential = { .advice = READ_SEQUENTIAL };

	EXPECT_EQ(readahead_miss(&random, 0, 1), 1);
	EXPECT(!readahead_follow(&random, 0));
	EXPECT_EQ(readahead_miss(&random, 1, 1), 1);
	EXPECT_EQ(readahead_miss(&sequential, 0, 1), 32);
	EXPECT(readahead_follow(&sequential, 0));
	EXPECT_EQ(sequential.size, 64);
}

KTEST(readahead, reads_at_most_what_the_parameter_allows)
{
	struct readahead a = { 0 };
	u32 read = 0, early = 0;

	readahead_kb = 0;
	for (u32 at = 0; at < 10; at++) {
		read += readahead_miss(&a, at, 20);
		early += readahead_follow(&a, at);
	}
	EXPECT_EQ(read, 10);
	EXPECT_EQ(early, 0);
	readahead_kb = 24;
	EXPECT_EQ(readahead_miss(&a, 10, 20), 6);
	EXPECT(readahead_follow(&a, 10));
	EXPECT_EQ(a.size, 6);
	readahead_kb = 128;
}
