#include "tsc_rate.c"
#include "lib/ktap.h"

#define LEAST 5966u         /* ticks: 5 ms */
#define CYCLES_1000 5000080 /* in 5 ms, at 1,000 MHz */

KTEST(tsc_rate, is_rounded_to_whole_mhz)
{
	EXPECT_EQ(tsc_mhz(CYCLES_1000, LEAST, LEAST), 1000);
	EXPECT_EQ(tsc_mhz(CYCLES_1000 + 2400, LEAST, LEAST), 1000);
	EXPECT_EQ(tsc_mhz(CYCLES_1000 + 2600, LEAST, LEAST), 1001);
	EXPECT_EQ(tsc_mhz(CYCLES_1000 * 4ull, LEAST, LEAST), 4000);
	EXPECT_EQ(tsc_mhz(CYCLES_1000 * 2, LEAST * 2, LEAST), 1000);
}

KTEST(tsc_rate, pit_that_reads_the_same_twice)
{
	EXPECT_EQ(tsc_mhz(CYCLES_1000, 0, LEAST), 1000);
	EXPECT_EQ(tsc_mhz(CYCLES_1000, 1, LEAST), 1000);
}

KTEST(tsc_rate, tsc_that_stands_still)
{
	EXPECT_EQ(tsc_mhz(0, LEAST, LEAST), 0);
	EXPECT_EQ(tsc_mhz(0, 0, LEAST), 0);
}
