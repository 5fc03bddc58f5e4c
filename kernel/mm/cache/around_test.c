/* Tests which pages page faults read: the pages of a file in an array, with all frames free. */
#include "ahead.c"
#include "around.c"
#include "lib/ktap.h"

#define PAGES 1024u
#define WINDOW 32u
#define HALF (WINDOW / 2)

static bool resident[PAGES];
static u32 nr_misses, nr_read;

static void begin(void)
{
	for (u32 i = 0; i < PAGES; i++)
		resident[i] = false;
	nr_misses = nr_read = 0;
}

static void read(u32 first, u32 nr)
{
	for (u32 i = first; i < MIN(first + nr, PAGES); i++) {
		nr_read += !resident[i];
		resident[i] = true;
	}
}

/* A fault, as cache_read_page treats it. */
static void fault(struct readahead *a, u32 index)
{
	bool missed = !resident[index];
	u32 first;

	if (missed) {
		u32 nr = readaround_miss(a, index, true, &first);

		read(first, nr);
		nr_misses++;
		EXPECT(resident[index]);
	}
	if (readaround_follow(a, index, missed, true))
		read(a->start, a->size);
}

KTEST(readaround, reads_half_a_window_before_the_page_and_half_from_it_on)
{
	struct readahead a = { .mapped = true };
	u32 first;

	EXPECT_EQ(readaround_miss(&a, 100, true, &first), WINDOW);
	EXPECT_EQ(first, 100 - HALF);
	EXPECT_EQ(readaround_miss(&a, 5, true, &first), WINDOW);
	EXPECT_EQ(first, 0);
}

KTEST(readaround, a_sequence_misses_once)
{
	struct readahead a = { .mapped = true };

	begin();
	for (u32 i = 0; i < PAGES; i++)
		fault(&a, i);
	EXPECT_EQ(nr_misses, 1);
	EXPECT_EQ(nr_read, PAGES);
}

KTEST(readaround, backwards_each_miss_brings_half_a_window)
{
	struct readahead a = { .mapped = true };

	begin();
	for (u32 i = PAGES; i-- > 0;)
		fault(&a, i);
	EXPECT(nr_misses <= PAGES / (HALF + 1) + 1);
	EXPECT_EQ(nr_read, PAGES);
}

KTEST(readaround, only_the_mark_requests_the_next_window)
{
	struct readahead a = { .mapped = true };
	u32 first;

	readaround_miss(&a, 100, true, &first);
	EXPECT(!readaround_follow(&a, 100, true, true));
	for (u32 i = 0; i < WINDOW; i += 2)
		EXPECT_EQ(readaround_follow(&a, first + i, false, true), i == 24);
	EXPECT_EQ(a.start, first + WINDOW);
	EXPECT_EQ(a.size, HALF);
}

KTEST(readaround, many_misses_end_it_until_hits_outnumber_them)
{
	struct readahead a = { .mapped = true };
	u32 first;

	for (u32 i = 0; i < 100; i++) {
		EXPECT_EQ(readaround_miss(&a, 1000 * i, true, &first), WINDOW);
		readaround_follow(&a, 1000 * i, true, true);
	}
	EXPECT_EQ(readaround_miss(&a, 7, true, &first), 1);
	EXPECT_EQ(first, 7);
	for (u32 i = 0; i < 2; i++)
		readaround_follow(&a, 7, false, true);
	EXPECT_EQ(readaround_miss(&a, 7, true, &first), WINDOW);
	for (u32 i = 0; i < 5000; i++)
		readaround_miss(&a, 1000 * i, true, &first);
	for (u32 i = 0; i < 901; i++)
		readaround_follow(&a, 7, false, true);
	EXPECT_EQ(readaround_miss(&a, 70, true, &first), WINDOW);
}

KTEST(readaround, is_for_spare_frames)
{
	struct readahead a = { .mapped = true };
	u32 first;

	EXPECT_EQ(readaround_miss(&a, 100, false, &first), 1);
	EXPECT(!readaround_follow(&a, 100, true, false));
	EXPECT_EQ(readaround_miss(&a, 101, false, &first), 4); /* in sequence: reads ahead */
	EXPECT_EQ(first, 101);

	EXPECT_EQ(readaround_miss(&a, 500, true, &first), WINDOW);
	readaround_follow(&a, 500, true, true);
	EXPECT(!readaround_follow(&a, first + 24, false, false));
}

KTEST(readaround, heeds_advice_and_the_parameter)
{
	struct readahead random = { .mapped = true, .advice = READ_RANDOM };
	struct readahead sequential = { .mapped = true, .advice = READ_SEQUENTIAL };
	struct readahead a = { .mapped = true };
	u32 first;

	EXPECT_EQ(readaround_miss(&random, 100, true, &first), 1);
	EXPECT_EQ(readaround_miss(&random, 0, true, &first), 1);
	EXPECT_EQ(readaround_miss(&sequential, 0, true, &first), WINDOW);
	EXPECT(readaround_follow(&sequential, 0, true, true));
	EXPECT_EQ(sequential.size, 2 * WINDOW);
	readaround_kb = 0;
	EXPECT_EQ(readaround_miss(&a, 100, true, &first), 1);
	readaround_kb = 64;
	EXPECT_EQ(readaround_miss(&a, 100, true, &first), HALF);
	EXPECT_EQ(first, 100 - HALF / 2);
	readaround_kb = 128;
}
