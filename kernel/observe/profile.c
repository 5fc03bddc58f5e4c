/*
 * The tick profiler: where the time is spent, by kernel function.
 *
 * Ticks are the instants start + k / profile_hz of machine time. Each is counted once: for the
 * interrupted kernel function (by the table of names for backtraces), for `user`, or for `idle`.
 * Sampling on a fixed grid is the method of Linux's readprofile and of gprof (Graham, Kessler,
 * McKusick, SIGPLAN 1982); the share of a function is accurate to about 1 / sqrt(its ticks).
 *
 * A timer on the grid interrupts the running code. With interrupts off, the tick comes late and
 * counts for the place that enables them again; if several ticks have passed, all count there. An
 * idle machine is not woken: when its wait ends, the number of instants in it is computed and
 * counted as idle, so that is exact and costs the same for any length.
 *
 * While off, it registers no listeners.
 */
#include "observe/profile.h"

#include "arch/irq.h"
#include "arch/machine.h"
#include "arch/task.h"
#include "arch/time.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "observe/events.h"
#include "sched/sched.h"
#include "sched/timer.h"
#include "schema.h"

#define PER_LINE 100u

u32 profile_hz;
PARAM_U32("profile_hz", profile_hz, 0, 10000, "Hz", "ticks of the profiler; 0: off", AT_BOOT);

static struct timer tick;
static u64 next_ns; /* irq: the first instant not yet counted */
static u32 period_ns;
static u32 *hits;   /* irq: ticks of each function */
static u32 user, idle;

static u32 *counter_of(u32 ip)
{
	int i = ksym_index(ip);

	return i < 0 ? &user : &hits[i];
}

/* Adds to *counter the sampling instants that have passed by now_ns. */
static void take(u32 *counter, u64 now_ns)
{
	u32 n;

	if (now_ns < next_ns)
		return;
	n = (now_ns - next_ns) / period_ns + 1;
	*counter += n;
	next_ns += (u64)n * period_ns;
}

static void tick_fire(struct timer *t)
{
	u64 now = clock_ns();

	if (sched_idling()) {
		timer_start(t, now + period_ns);
		return;
	}
	take(counter_of(regs_ip(irq_regs)), now);
	timer_start(t, next_ns);
}

/* Ticks delayed by disabled interrupts are charged to the idle task's function. */
static void idle_begins(void *unused)
{
	(void)unused;
	take(counter_of((u32)cpu_idle), clock_ns());
}

static void idle_ends(void *unused)
{
	(void)unused;
	take(&idle, clock_ns());
	timer_start(&tick, next_ns);
}

static void profile_init(void)
{
	if (!profile_hz)
		return;
	hits = kmalloc(ksym_count() * sizeof(*hits), GFP_KERNEL);
	if (!hits)
		panic("no memory for profile_hz");
	memset(hits, 0, ksym_count() * sizeof(*hits));
	period_ns = 1000000000u / profile_hz;
	next_ns = clock_ns() + period_ns;
	timer_setup(&tick, tick_fire, true);
	timer_start(&tick, next_ns);
	listen_idle_begins(idle_begins);
	listen_idle_ends(idle_ends);
}

/* Several (static) functions of the same name become one member. Returns the sum of kernel
 * ticks. */
static u32 merge_names(void)
{
	u32 sum = 0;

	for (u32 i = 0; i < ksym_count(); i++) {
		sum += hits[i];
		for (u32 j = 0; hits[i] && j < i; j++) {
			if (!hits[j] || strcmp(ksym_at(i), ksym_at(j)))
				continue;
			hits[j] += hits[i];
			hits[i] = 0;
		}
	}
	return sum;
}

/* Sends the functions from *from on that have ticks, PER_LINE names at most. */
static void send_functions(u32 *from)
{
	u32 n = 0;

	telemetry_open("functions", '{');
	if (*from == 0) {
		telemetry_u32("user", user);
		telemetry_u32("idle", idle);
		n = 2;
	}
	for (; *from < ksym_count() && (n < PER_LINE || !hits[*from]); (*from)++) {
		if (!hits[*from])
			continue;
		telemetry_u32(ksym_at(*from), hits[*from]);
		n++;
	}
	telemetry_close('}');
}

/* Sends the counts as telemetry. */
static void profile_report(void)
{
	u32 ticks, next = 0;

	if (!profile_hz || !telemetry_on())
		return;
	timer_stop(&tick);
	ticks = merge_names() + user + idle;
	while (next < ksym_count()) {
		telemetry_begin("profile");
		RECORD_PROFILE(EMIT);
		telemetry_end();
	}
}

AT_STAGE(parts, 40, profile_init);
AT_STAGE(report, 30, profile_report);
