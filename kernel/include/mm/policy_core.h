/*
 * The core's side of the seam: the hooks as the rest of mm/ calls them, with ownership kept,
 * rules checked and time measured.
 */
#ifndef MM_POLICY_CORE_H
#define MM_POLICY_CORE_H

#include "mm/policy.h"

struct task_struct;

extern const struct vm_policy *vm_policy; /* the one switched on */
extern u32 vm_nr_isolated;                /* pages the core holds */
extern u64 policy_cycles;                 /* time spent inside hooks */

void policy_call_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from);
void policy_call_touch(struct page *page, struct mm_struct *mm, enum vm_touch how);
void policy_call_remove(struct page *page, enum vm_out why);
/* A page the policy owned, now isolated, with a reference for the caller; NULL: none. */
struct page *policy_call_select(struct vm_scan *scan);
/* These end the isolation; the caller's reference stays. */
void policy_call_putback(struct page *page, enum vm_put why);
void policy_call_evicted(struct page *page, struct page_id to);
/* The isolated page's last user died: no hook. */
void policy_drop_isolated(struct page *page);
void policy_call_forget(struct page_id id);
void policy_call_mm_init(struct mm_struct *mm);
void policy_call_mm_exit(struct mm_struct *mm);
u32 policy_call_surplus(struct mm_struct *mm);
bool policy_call_may_run(struct mm_struct *mm);
bool policy_call_tick(void);
/* Compares the policy's count with the core's; a difference is a violation. */
void policy_call_check(void);
/* Called when reclaim at priority 0 got nothing: is that the policy's fault? True: it was, and
 * another policy has taken over. */
bool policy_blame(u32 zone_mask);
/* Inside a hook: so much of its time was not the policy's. */
void policy_not_its_time(u64 cycles);
/* irq context, every tick: has a hook been running for too long? */
void vm_watch_hook(void);
/* For a panic: prints which hook was running, if one was. */
void policy_report_hook(void);

/* Switches while running: 0, -EINVAL (no such policy), or what its init returned. */
int policy_switch(const char *name);
/* Makes next the policy and gives it every page; broken: without another word to the old one. */
void policy_take_over(const struct vm_policy *next, bool broken);
/* Before the command line is parsed: so that it may set any policy's parameters. */
void policy_register_params(void);
void policy_init(void);
const struct vm_policy *policy_find(const char *name);
void policy_names(struct seq_file *m); /* "fifo clock 2q ws" */
void policy_show(struct seq_file *m);  /* /proc/vm/policy */
u32 policy_violations(void);

/* Admission (mm/seam/admission.c). */
void policy_admit_current(void); /* sleeps until may_run */
void admission_recheck(void);    /* asks again for those that run and those that wait */
void admission_init(void);
u32 admission_nr_waiting(void);

#endif
