/*
 * Load average: the number of tasks that run, wait for the CPU or wait for a disk, damped
 * exponentially over 1, 5 and 15 minutes, sampled every 5 s as in Linux.
 *
 * The sampling timer does not wake an idle machine. Missed samples are made up for with a load of
 * 0, which is what they would have measured, apart from tasks waiting for a disk.
 */
#include "arch/time.h"
#include "internal.h"
#include "sched/timer.h"

#define SAMPLE_NS 5000000000ull
#define FSHIFT 11
#define FIXED_1 (1u << FSHIFT)

/* FIXED_1 / e^(5 s / period) */
static const u32 decay[3] = { 1884, 2014, 2037 };
static u32 avenrun[3];
static struct timer timer;

static void sample(u32 active)
{
	for (int i = 0; i < 3; i++)
		avenrun[i] = ((u64)avenrun[i] * decay[i] + (u64)active * (FIXED_1 - decay[i])) >>
			     FSHIFT;
}

static void sample_fire(struct timer *t)
{
	u64 now = clock_ns(), due = t->expires_ns;
	u32 missed = 0;

	for (due += SAMPLE_NS; due <= now && missed < 2000; due += SAMPLE_NS) {
		sample(0);
		missed++;
	}
	sample((fair_rq.nr_running + nr_iowait) * FIXED_1);
	timer_start(t, now + SAMPLE_NS);
}

void sched_loadavg(u32 avg[3])
{
	for (int i = 0; i < 3; i++)
		avg[i] = avenrun[i];
}

void loadavg_init(void)
{
	timer_setup(&timer, sample_fire, true);
	timer_start(&timer, clock_ns() + SAMPLE_NS);
}
