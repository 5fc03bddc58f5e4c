/*
 * The rules of the seams (mm/policy.h, mm/guard.h), and what they need of the world around them.
 *
 * mm/seam/rules.c and mm/seam/timer.c are compiled into three worlds: the kernel (mm/seam/world.c),
 * the simulator of policies (tools/vmsim) and the host tests (tests/host). So what a policy may do,
 * what is checked and how a broken rule is worded is the same in all of them; what becomes of it is
 * not.
 *
 * A world also has what policies and guards may call, mem_map and zones, a clock for hooks
 * (cycles_now, cycles_to_ns), swap_nr_free (mm/swap.h), and pages that are kept for a starving process
 * (mm/starve.h).
 */
#ifndef MM_RULES_H
#define MM_RULES_H

#include "mm/guard_core.h"
#include "mm/hook_timer.h"
#include "mm/policy_core.h"
#include "observe/events.h"

/* What a world supplies. */

/* Somebody broke a rule. Afterwards another policy may be switched on. */
void world_violation(const struct violation *v);
/* The same, where nothing can go on. */
void __noreturn world_stop(const struct violation *v);
/* A select has looked at so many pages. */
void world_scanned(u32 nr);
/* Another policy has been switched on by policy_take_over. */
void world_switched(void);
/* The policy's count is compared with ours after so many selects, later if pages are many. */
extern const u32 world_check_every;

/* What broken rules are said with; t tells whose hook it is. */
void rule_broken(const struct hook_timer *t, const char *rule, const char *hook,
		 const struct page *page, const char *fmt, ...) __printf(5, 6);
void __noreturn rule_fatal(const struct hook_timer *t, const char *rule, const char *hook,
			   const char *fmt, ...) __printf(4, 5);
/* The policy or the guard whose timer it is. */
const char *rules_name(const struct hook_timer *t);

#endif
