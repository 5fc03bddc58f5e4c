/* Tests when dirty pages are written. */
#include "limits.c"
#include "lib/ktap.h"

static const struct dirty_knobs linux_defaults = { 10, 20, 3000, 500, 0 };

KTEST(writeback, begins_before_writers_wait)
{
	for (u32 ratio = 0; ratio <= 100; ratio += 5)
		for (u32 background = 0; background <= 100; background += 5) {
			struct dirty_knobs k = { background, ratio, 3000, 500, 0 };

			EXPECT(dirty_background(&k, 10000) < dirty_limit(&k, 10000));
		}
	EXPECT_EQ(dirty_limit(&linux_defaults, 10000), 2000);
	EXPECT_EQ(dirty_background(&linux_defaults, 10000), 1000);
}

KTEST(writeback, lets_a_writer_have_some_pages)
{
	struct dirty_knobs k = { 0, 0, 3000, 500, 0 };

	EXPECT_EQ(dirty_limit(&k, 10), 16);
	EXPECT_EQ(dirty_background(&k, 1000000), 0);
}

KTEST(writeback, writes_what_is_old)
{
	u64 second = 1000000000;

	EXPECT(!dirty_expired(&linux_defaults, 100 * second, 71 * second));
	EXPECT(dirty_expired(&linux_defaults, 100 * second, 70 * second));
	EXPECT_EQ(dirty_look_ns(&linux_defaults, 100 * second), 105 * second);
}

KTEST(writeback, looks_never_when_told_so)
{
	struct dirty_knobs k = { 10, 20, 3000, 0, 0 };

	EXPECT_EQ(dirty_look_ns(&k, 5), 0);
}
