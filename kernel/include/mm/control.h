/*
 * What decides about policies and guards: their choice, the consequences of a broken rule, ticks, and
 * admission. The hooks themselves: mm/policy_core.h, mm/guard_core.h.
 */
#ifndef MM_CONTROL_H
#define MM_CONTROL_H

#include "types.h"

struct seq_file;
struct vm_policy;

/* Choosing the policy (mm/control/switch.c). Returns the policy of that name, or NULL. */
const struct vm_policy *policy_find(const char *name);
/* The mark of a policy that has broken a rule: it must not be used again. */
bool *policy_broken_mark(const struct vm_policy *policy);
/* mm/control/policy_files.c. Switches at run time. Returns 0, -EINVAL if there is no
 * such policy, -EPERM if that policy broke a rule, or the error of its init. */
int policy_switch(const char *name);
/* Is the active policy the fallback, which replaces policies that break a rule? */
bool policy_is_fallback(void);
/* Switches to the fallback; the policy that was active is never used again. */
void policy_fall_back(void);
/* Must run before the command line is parsed, so that it may set any policy's parameters. */
void policy_register_params(void);
void policy_init(void);
void policy_names(struct seq_file *m); /* "fifo clock 2q ws" */
void policy_show(struct seq_file *m); /* /proc/vm/policy */
u32 policy_violations(void);

/* Choosing guards (mm/control/choose_guards.c). */
/* Must run before the command line is parsed, so that it may set any guard's parameters. */
void guard_register_params(void);
void guard_init(void);
const char *guard_name(void);
void guard_show(struct seq_file *m); /* /proc/vm/guard */

/* Registers listeners for ticks and panics. */
void seam_init(void);

/* Admission (mm/control/admission.c). */
void policy_admit_current(void); /* sleeps until current may run */
void admission_recheck(void); /* asks again for all processes, running or held back */
u32 admission_nr_waiting(void);
u32 admission_most_waiting(void); /* largest number at the same time since boot */

/* The thread that calls the ticks (mm/control/kvmd.c). */
void kvmd_init(void);
/* A process is held back: from now on the policy's tick is called even while the machine is idle. */
void kvmd_must_tick(void);

#endif
