/*
 * The consequences of a broken rule, in the kernel (mm/rules.h).
 *
 * A broken rule is printed and raised as an event, with the names of the policy and the rule. Then
 * the fallback policy takes over. If the fallback itself broke the rule, the machine stops, unless
 * the fallback was only slow. A policy of the command line that does not start is refused. A guard that broke a rule is switched off. A hook that never returns
 * is detected by the timer tick, which can only stop the machine.
 */
#include "arch/machine.h"
#include "arch/time.h"
#include "fs/vfs.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/control.h"
#include "mm/mm.h"
#include "mm/reclaim.h"
#include "mm/rules.h"
#include "mm/swap.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "observe/events.h"
#include "sched/current.h"

const u32 world_check_every = 256;

static u32 nr_violations;
static bool falling_back;

u32 policy_violations(void)
{
	return nr_violations;
}

static void switch_policy_off(const struct violation *v)
{
	nr_violations++;
	stat_count(policy_violation);
	if (falling_back) /* the fallback rejects what it is given during the switch: ignored */
		return;
	falling_back = true;
	policy_fall_back();
	printk("policy %s is switched off; %s goes on\n", v->name, vm_policy->name);
	falling_back = false;
}

/* The fallback may be slow: no other policy could replace it, and its lists are consistent. */
static bool is_forgiven(const struct violation *v)
{
	return v->kind == policy_timer.kind && policy_is_fallback() && !strcmp(v->rule, "time");
}

void world_violation(const struct violation *v)
{
	if (is_forgiven(v))
		return;
	printk("%s violation: %s=%s rule=%s: %s\n", v->kind, v->kind, v->name, v->rule, v->what);
	event_violation(v);
	if (v->kind == policy_timer.kind) {
		switch_policy_off(v);
		return;
	}
	printk("guard %s is switched off\n", v->name);
	vm_guards[vm_guard_asked] = NULL;
	admission_recheck();
}

void world_stop(const struct violation *v)
{
	if (!strcmp(v->rule, "init")) {
		printk("command line: vm=%s: %s\n", v->name, v->what);
		machine_exit(EXIT_REFUSED);
	}
	panic("%s violation: %s=%s rule=%s: %s", v->kind, v->kind, v->name, v->rule, v->what);
}

void world_scanned(u32 nr)
{
	if (current->flags & TF_KTHREAD)
		stat_add(pgscan_kswapd, nr);
	else
		stat_add(pgscan_direct, nr);
}

void world_switched(void)
{
	event_policy_switch(vm_policy->name);
	admission_recheck();
}

static void tick(void *none)
{
	(void)none;
	hook_watch();
}

static void panicked(void *none)
{
	(void)none;
	hook_report();
}

static void mm_freed(void *none)
{
	(void)none;
	admission_recheck();
}

void seam_init(void)
{
	listen_tick(tick);
	listen_panic(panicked);
	listen_mm_freed(mm_freed);
}
