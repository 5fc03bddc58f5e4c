/*
 * The rules of the policy and guard interfaces (mm/policy.h, mm/guard.h), and what the rules need
 * from their environment, the "world".
 *
 * mm/seam/rules.c and mm/seam/timer.c are compiled into three worlds: the kernel (mm/control/violation.c),
 * the policy simulator (tools/vmsim) and the host tests (tests/host). So what a policy may do, what is
 * checked and how a broken rule is worded is the same in all of them. Only its consequences differ.
 *
 * A world also provides the functions that policies and guards may call, mem_map and zones, and a clock
 * for hooks (cycles_now, cycles_to_ns).
 */
#ifndef MM_RULES_H
#define MM_RULES_H

#include "mm/guard_core.h"
#include "mm/hook_timer.h"
#include "mm/policy_core.h"
#include "observe/events.h"

/* Supplied by each world. */

/* Call when a policy or a guard has broken a rule. When this returns, another policy may have been
 * switched on. */
void world_violation(const struct violation *v);
/* Stops the machine: a rule was broken, and the machine cannot continue. */
void __noreturn world_stop(const struct violation *v);
/* Call when a call of select has examined nr pages. */
void world_scanned(u32 nr);
/* Called by policy_take_over when it has switched on another policy. */
void world_switched(void);
/* Number of selects between two comparisons of the policy's page count with ours; more if pages are many. */
extern const u32 world_check_every;

/* Report a broken rule; t says whether the hook is the policy's or the guard's. */
void rule_broken(const struct hook_timer *t, const char *rule, const char *hook,
		 const struct page *page, const char *fmt, ...) __printf(5, 6);
void __noreturn rule_fatal(const struct hook_timer *t, const char *rule, const char *hook,
			   const char *fmt, ...) __printf(4, 5);
/* Name of the policy or the guard to which this timer belongs. */
const char *rules_name(const struct hook_timer *t);

#endif
