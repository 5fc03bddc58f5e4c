#include "fair.c"
#include "../lib/rbtree.c"
#include "../lib/rbtree_check.c"
#include "lib/ktap.h"

#define MS 1000000ull
#define MAX_TASKS 64

static struct fair_rq rq;
static struct sched_entity se[MAX_TASKS];
static u64 now;

static void start(u32 nr)
{
	rq = (struct fair_rq){ .min_vruntime = 1 };
	now = 1000 * MS;
	for (u32 i = 0; i < nr; i++) {
		se[i] = (struct sched_entity){ .weight = fair_weight(0) };
		fair_enqueue(&rq, &se[i], FAIR_NEW);
	}
}

/* A short model of the kernel: a tick every step, a switch if the tick requests it. */
static void run(u64 ns, u64 step)
{
	u64 until = now + ns;

	if (!rq.curr)
		fair_pick(&rq, now);
	while (now < until) {
		now += step;
		fair_charge(&rq, now);
		if (fair_tick_preempts(&rq))
			fair_pick(&rq, now);
	}
}

KTEST(fair, weights_are_linux_s)
{
	EXPECT_EQ(fair_weight(-20), 88761);
	EXPECT_EQ(fair_weight(-1), 1277);
	EXPECT_EQ(fair_weight(0), 1024);
	EXPECT_EQ(fair_weight(5), 335);
	EXPECT_EQ(fair_weight(19), 15);
	for (int nice = -20; nice < 19; nice++) {
		u32 w = fair_weight(nice) * 100 / fair_weight(nice + 1);

		EXPECT(w >= 118 && w <= 132);
	}
}

KTEST(fair, delta_is_inverse_to_weight)
{
	EXPECT_EQ(fair_delta(12345, 1024), 12345);
	for (int nice = -20; nice <= 19; nice++) {
		u32 weight = fair_weight(nice);
		u64 exact = 4 * MS * 1024 / weight, got = fair_delta(4 * MS, weight);

		EXPECT(got <= exact && exact - got <= exact / 10000 + 1);
	}
	/* longer than 32 bits of ns */
	EXPECT_EQ(fair_delta(10000 * MS, 2048), 5000 * MS);
}

KTEST(fair, slice_is_share_of_latency)
{
	start(2);
	fair_pick(&rq, now);
	EXPECT_EQ(fair_slice(&rq, rq.curr), 3000000);
	start(16);
	fair_pick(&rq, now);
	EXPECT_EQ(fair_slice(&rq, rq.curr), 750000);
}

KTEST(fair, equals_get_equal_time)
{
	start(3);
	run(3000 * MS, 1 * MS);
	for (int i = 0; i < 3; i++)
		EXPECT(se[i].sum_exec > 985 * MS && se[i].sum_exec < 1015 * MS);
	EXPECT_EQ(fair_check(&rq), 0);
}

KTEST(fair, nice_0_against_5_is_1024_to_335)
{
	u64 ratio;

	start(2);
	fair_reweight(&rq, &se[1], fair_weight(5));
	run(20000 * MS, 4 * MS);
	ratio = se[0].sum_exec * 1000 / se[1].sum_exec;
	EXPECT(ratio > 3056 * 98 / 100 && ratio < 3056 * 102 / 100);
}

KTEST(fair, sleeper_goes_first_but_saves_nothing_up)
{
	start(2);
	run(100 * MS, 1 * MS);
	EXPECT(rq.curr != NULL);
	struct sched_entity *sleeper = rq.curr;

	fair_sleep(&rq);
	EXPECT_EQ(fair_check(&rq), 0);
	run(5000 * MS, 1 * MS);
	fair_enqueue(&rq, sleeper, FAIR_WAKEUP);
	EXPECT(fair_wakeup_preempts(&rq, sleeper));
	EXPECT(rq.min_vruntime - sleeper->vruntime <= sched_latency_ns / 2);
	EXPECT(fair_pick(&rq, now) == sleeper);
}

KTEST(fair, wakeup_within_granularity_does_not_preempt)
{
	start(2);
	fair_pick(&rq, now);
	se[0].vruntime = se[1].vruntime = rq.min_vruntime;
	rq.curr->vruntime += sched_wakeup_granularity_ns;
	EXPECT(!fair_wakeup_preempts(&rq, rq.curr == &se[0] ? &se[1] : &se[0]));
	rq.curr->vruntime++;
	EXPECT(fair_wakeup_preempts(&rq, rq.curr == &se[0] ? &se[1] : &se[0]));
}

KTEST(fair, new_task_starts_behind)
{
	start(1);
	run(50 * MS, 1 * MS);
	se[1] = (struct sched_entity){ .weight = fair_weight(0), .vruntime = se[0].vruntime };
	fair_enqueue(&rq, &se[1], FAIR_NEW);
	EXPECT(se[1].vruntime > se[0].vruntime);
	EXPECT(!fair_wakeup_preempts(&rq, &se[1]));
}

KTEST(fair, yield_lets_every_other_go_first)
{
	struct sched_entity *first;

	start(8);
	first = fair_pick(&rq, now);
	fair_yield(&rq);
	for (int i = 0; i < 7; i++) {
		EXPECT(fair_pick(&rq, now) != first);
		fair_yield(&rq);
	}
	EXPECT(fair_pick(&rq, now) == first);
}

KTEST(fair, alone_it_runs_on)
{
	start(1);
	run(100 * MS, 4 * MS);
	EXPECT_EQ(se[0].sum_exec, 100 * MS);
	EXPECT(fair_pick(&rq, now) == &se[0]);
	EXPECT(!fair_tick_preempts(&rq));
	fair_sleep(&rq);
	EXPECT(!fair_pick(&rq, now));
	EXPECT_EQ(rq.nr_running, 0);
	EXPECT_EQ(rq.load, 0);
}

KTEST(fair, min_vruntime_survives_overflow)
{
	start(2);
	rq.min_vruntime = se[0].vruntime = se[1].vruntime = UINT64_MAX - MS;
	run(100 * MS, 1 * MS);
	EXPECT(rq.min_vruntime < 100 * MS);
	EXPECT_EQ(fair_check(&rq), 0);
	EXPECT(se[0].sum_exec > 45 * MS && se[0].sum_exec < 55 * MS);
}

KTEST(fair, random_life_keeps_tree_in_order)
{
	u32 seed = 42;
	bool asleep[MAX_TASKS] = { false };

	start(MAX_TASKS);
	ktap_note("seed %u", seed);
	for (int step = 0; step < 20000; step++) {
		u32 r = ktap_random(&seed), i = r % MAX_TASKS;

		now += r >> 12 & 0x3fffff;
		fair_charge(&rq, now);
		if (r & 1 && rq.curr) {
			asleep[rq.curr - se] = true;
			fair_sleep(&rq);
			fair_pick(&rq, now);
		} else if (asleep[i]) {
			asleep[i] = false;
			fair_enqueue(&rq, &se[i], FAIR_WAKEUP);
		} else if (r & 2) {
			fair_reweight(&rq, &se[i], fair_weight((int)(r >> 8) % 20));
		} else {
			fair_pick(&rq, now);
		}
		if (step % 100 == 0)
			EXPECT_EQ(fair_check(&rq), 0);
	}
}
