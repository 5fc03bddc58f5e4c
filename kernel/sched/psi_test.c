#include "psi_average.c"
#include "lib/ktap.h"

#define SECOND 1000000000ull

KTEST(psi, nobody_stalled_is_no_pressure)
{
	struct psi p = { 0 };

	psi_move(&p, PSI_NONE, PSI_PRODUCTIVE, 100);
	psi_settle(&p, 1000);
	psi_move(&p, PSI_PRODUCTIVE, PSI_NONE, 2000);
	psi_settle(&p, 3000);
	EXPECT_EQ(p.some, 0);
	EXPECT_EQ(p.full, 0);
}

KTEST(psi, one_stalled_beside_one_at_work_is_some)
{
	struct psi p = { 0 };

	psi_move(&p, PSI_NONE, PSI_PRODUCTIVE, 0);
	psi_move(&p, PSI_NONE, PSI_PRODUCTIVE, 0);
	psi_move(&p, PSI_PRODUCTIVE, PSI_STALLED, 100);
	psi_settle(&p, 150);
	EXPECT_EQ(p.some, 50);
	EXPECT_EQ(p.full, 0);
}

KTEST(psi, all_stalled_or_asleep_is_full)
{
	struct psi p = { 0 };

	psi_move(&p, PSI_NONE, PSI_STALLED, 0);
	psi_move(&p, PSI_NONE, PSI_PRODUCTIVE, 10);
	psi_move(&p, PSI_PRODUCTIVE, PSI_NONE, 30);
	psi_move(&p, PSI_NONE, PSI_STALLED, 70);
	psi_move(&p, PSI_STALLED, PSI_PRODUCTIVE, 90);
	psi_move(&p, PSI_STALLED, PSI_NONE, 100);
	psi_settle(&p, 1000);
	EXPECT_EQ(p.some, 100);
	EXPECT_EQ(p.full, 10 + 60);
	EXPECT_EQ(p.nr[PSI_PRODUCTIVE], 1);
	EXPECT_EQ(p.nr[PSI_STALLED], 0);
}

/* Returns the rounded percentage. */
static u32 percent(const struct psi_average *a, int i)
{
	return (a->avg[i] + PSI_FIXED_1 / 2) >> PSI_FSHIFT;
}

KTEST(psi, average_follows_in_about_its_window)
{
	struct psi_average a = { 0 };

	for (u32 i = 1; i <= 5; i++)
		psi_average_update(&a, i * 2 * SECOND, 2 * SECOND, 1);
	EXPECT_EQ(percent(&a, 0), 63); /* 1 - 1/e after 10 s */
	EXPECT_EQ(percent(&a, 1), 15); /* 1 - e^(-1/6) */
	EXPECT_EQ(percent(&a, 2), 3);
	psi_average_update(&a, 10 * SECOND, 2 * SECOND, 1);
	EXPECT(percent(&a, 0) >= 50 && percent(&a, 0) <= 53); /* 63 / e^(1/5) */
}

KTEST(psi, average_makes_up_for_missed_periods)
{
	struct psi_average missed = { 0 }, steady = { 0 };

	for (u32 i = 1; i <= 10; i++)
		psi_average_update(&steady, i * SECOND, 2 * SECOND, 1);
	psi_average_update(&missed, 10 * SECOND, 20 * SECOND, 10);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(percent(&missed, i), percent(&steady, i));
	EXPECT_EQ(percent(&missed, 0), 43); /* half of 1 - e^-2 */
	psi_average_update(&missed, 10 * SECOND, 3600 * SECOND, 1800);
	EXPECT_EQ(missed.avg[2], 0);
}

KTEST(psi, average_of_full_stall_is_100_percent)
{
	struct psi_average a = { 0 };

	psi_average_update(&a, 10000 * SECOND, 10000 * SECOND, 5000);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(percent(&a, i), 100);
}
