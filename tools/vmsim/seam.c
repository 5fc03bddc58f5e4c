/* The environment of mm/seam/rules.c in the simulator: a broken rule ends it. See vmsim.h. */
#include "vmsim.h"

#include "arch/time.h"
#include "lib/printf.h"
#include <unistd.h>

const u32 world_check_every = CHECK_EVERY;
static struct vm_scan *scanning; /* the scan of the select call in progress */

const struct vm_policy *seam_policy(void)
{
	return policy_at(0);
}

void world_violation(const struct violation *v)
{
	world_stop(v);
}

void world_stop(const struct violation *v)
{
	report_violation(v);
	_exit(EXIT_VIOLATION);
}

void world_scanned(u32 nr)
{
	counts.looked += nr;
}

/* There is only one policy here, so this never happens. */
void world_switched(void)
{
}

u64 cycles_now(void)
{
	return sim_now_ns;
}

void seam_start(void)
{
	swap_nr_free = UINT32_MAX; /* the swap area is never full */
	policy_start(seam_policy());
	policy_call_mm_init(&sim_mm);
}

u32 seam_budget(void)
{
	return scanning ? scanning->budget : 0;
}

struct page *seam_select(struct vm_scan *scan)
{
	struct page *page;

	report_asked("select", scan);
	scanning = scan;
	page = policy_call_select(scan);
	scanning = NULL;
	report_gave(page, scan->act);
	return page;
}

void seam_tick(void)
{
	report_asked("tick", NULL);
	while (policy_call_tick())
		;
}

void seam_end(void)
{
	const struct vm_policy *policy = seam_policy();

	policy_call_check();
	policy_call_mm_exit(&sim_mm);
	policy_timer.running = "exit";
	if (policy->exit)
		policy->exit();
	policy_timer.running = NULL;
}
