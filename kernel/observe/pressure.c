/*
 * Memory pressure, from which tools decide whether the machine thrashes: every tenth of a second of
 * machine time one telemetry line with the waits, reads, evictions and demand.
 *
 * All values come from exact counters and from the events themselves; none is sampled. So they do
 * not depend on how often the processes are sampled (observe/sample.c). The lines divide the run;
 * tools/tidemark/telemetry/thrashing.py combines them to windows of a second. They are written at
 * quiet moments (sched/still.c), so a line may come a few milliseconds late, and the next tenth
 * begins there.
 */
#include "mm/demand.h"
#include "lib/stages.h"
#include "mm/mm.h"
#include "mm/control.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/vmstat.h"
#include "observe/events.h"
#include "sched/psi.h"
#include "sched/sched.h"
#include "schema.h"

#define PERIOD_NS 100000000u
#define KIB_A_PAGE (PAGE_SIZE / 1024)

static u64 due_ns;

static u64 pages_read(void)
{
	return vm_events[VM_pswpin] + vm_events[VM_pgpgin] / KIB_A_PAGE;
}

static void pressure_now(void)
{
	struct demand most = demand_most();

	if (!telemetry_begin("pressure"))
		return;
	RECORD_PRESSURE(EMIT);
	telemetry_end();
}

static void quiet(void *unused)
{
	u64 now = clock_ns();

	(void)unused;
	if (now < due_ns)
		return;
	due_ns = now + PERIOD_NS;
	pressure_now();
}

static void pressure_init(void)
{
	due_ns = clock_ns() + PERIOD_NS;
	listen_quiet(quiet);
}

AT_STAGE(parts, 30, pressure_init);
AT_STAGE(end, 10, pressure_now);
