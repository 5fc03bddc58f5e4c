/*
 * The core's side of the policy seam: the hooks as the rest of mm/ calls them, with ownership kept,
 * rules checked and time measured (mm/seam/rules.c), and which policy is switched on.
 */
#ifndef MM_POLICY_CORE_H
#define MM_POLICY_CORE_H

#include "mm/hook_timer.h"
#include "mm/policy.h"

struct task_struct;

extern const struct vm_policy *vm_policy; /* the one switched on */
extern u32 vm_nr_isolated;                /* pages the core holds */

/* Those that are registered, sorted by their files' names; made by tools/registry.awk. */
extern const struct vm_policy *const *const policy_table[];

static inline const struct vm_policy *policy_at(u32 i)
{
	return policy_table[i] ? *policy_table[i] : NULL;
}

/* The hooks. */
void policy_call_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			struct page_id from);
void policy_call_touch(struct page *page, struct mm_struct *mm, enum vm_touch how);
void policy_call_remove(struct page *page, enum vm_out why);
/* Makes `to` the page's owner; NULL: none. Tells the policy if it owns the page and if that is a
 * change. */
void policy_call_moved(struct page *page, struct mm_struct *to);
/* A page the policy owned, now isolated; NULL: none. Nothing that ends the caller's hold on it may
 * come in between: take a reference at once. */
struct page *policy_call_select(struct vm_scan *scan);
/* These end the isolation; the caller's reference stays. */
void policy_call_putback(struct page *page, enum vm_put why);
void policy_call_evicted(struct page *page, struct page_id to);
void policy_call_forget(struct page_id id);
void policy_call_mm_init(struct mm_struct *mm);
void policy_call_mm_exit(struct mm_struct *mm);
u32 policy_call_surplus(struct mm_struct *mm);
bool policy_call_may_run(struct mm_struct *mm);
bool policy_call_tick(void);
/* Compares the policy's count with the core's; a difference is a violation. */
void policy_call_check(void);
/* Its time is not counted: it is not the policy that wants to know. */
void policy_call_show(struct seq_file *m);

/* The isolated page's last user died: ends the isolation without a hook. */
void policy_drop_isolated(struct page *page);
/* How often tick, surplus and may_run are asked. */
u32 policy_tick_ms(void);

/* Reclaim makes passes from the calm priority down to 0; the budget of one. */
#define DEF_PRIORITY 12
#define SWAP_CLUSTER_MAX 32u
/* A bit in a zone mask: no pages of files. */
#define VM_ONLY_ANON 0x80000000u
/* A pass over these zones, which may take from anywhere. */
struct vm_scan policy_scan(u32 zone_mask, int priority);
/* A pass that takes no more than n pages of surplus from one process. */
struct vm_scan policy_trim_scan(struct mm_struct *mm, u32 n, u32 resident);
/* Reclaim at priority 0 freed nothing. The policy is to blame if it gave nothing (nr_given 0) although
 * a page is eligible, or if it gave pages, but none to evict. True: reclaim may try again, since
 * another policy has taken over, or this one gives a page now. */
bool policy_blame(u32 zone_mask, u32 nr_given);

/* Switches a policy on when there is none yet. */
void policy_start(const struct vm_policy *policy);
/* Every required hook must be there. */
void policy_require_hooks(const struct vm_policy *policy);
/* Makes next the policy and gives it every page; broken: without another word to the old one. */
void policy_take_over(const struct vm_policy *next, bool broken);

/* Choosing (mm/seam/switch.c). Switches while running: 0, -EINVAL (no such policy), -EPERM (it
 * broke a rule), or what its init returned. */
int policy_switch(const char *name);
/* Is it the one that takes over from a policy that broke a rule? */
bool policy_is_fallback(void);
/* The policy switched on is never used again; the fallback takes over. */
void policy_fall_back(void);
/* Before the command line is parsed: so that it may set any policy's parameters. */
void policy_register_params(void);
void policy_init(void);
void policy_names(struct seq_file *m); /* "fifo clock 2q ws" */
void policy_show(struct seq_file *m); /* /proc/vm/policy */
u32 policy_violations(void);

/* Listens to the tick and to panics. */
void seam_init(void);

/* Admission (mm/seam/admission.c). */
bool admission_asks(void); /* can the policy or a guard hold processes back? */
bool admission_grants(struct mm_struct *mm); /* may it run now? */
void policy_admit_current(void); /* sleeps until it may */
void admission_recheck(void); /* asks again for those that run and those that wait */
u32 admission_nr_waiting(void);
u32 admission_most_waiting(void); /* at once, since boot */

/* The thread that ticks (mm/seam/kvmd.c). */
void kvmd_init(void);
/* Somebody is held back: from now on the policy's tick comes, even if the machine is idle. */
void kvmd_must_tick(void);

#endif
