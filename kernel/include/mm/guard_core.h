/* The core's side of the guard seam: the hooks as the rest of mm/ calls them (mm/seam/rules.c), and
 * which guard there is (mm/seam/guard.c). */
#ifndef MM_GUARD_CORE_H
#define MM_GUARD_CORE_H

#include "mm/guard.h"

/* Those chosen at boot, in places that keep their numbers; NULL: it has been switched off. */
extern const struct vm_guard *vm_guards[MAX_GUARDS];
extern u32 vm_nr_guards;
extern u32 vm_guard_asked; /* the place of the one whose hook runs, or ran last */

/* Those that are registered, sorted by their files' names; made by tools/registry.awk. */
extern const struct vm_guard *const *const guard_table[];

static inline const struct vm_guard *guard_at(u32 i)
{
	return guard_table[i] ? *guard_table[i] : NULL;
}

void guard_call_mm_exit(struct mm_struct *mm);
void guard_call_fault(struct mm_struct *mm);
bool guard_call_may_run(struct mm_struct *mm);
void guard_call_pressure(bool min);
void guard_call_evicted(struct page *page, struct mm_struct *owner, struct page_id to);
void guard_call_forget(struct page_id id);
/* Calls the ticks that are due, and says when the next one is, ns; *idle: also if nothing runs. 0: none
 * of the guards has ticks. */
u64 guard_call_ticks(u64 now, bool *idle);
/* Does one of them stop processes? */
bool guards_hold(void);
/* Its time is not counted, as with policy_call_show. */
void guard_call_show(struct seq_file *m);
/* Every required hook must be there. */
void guard_require_hooks(const struct vm_guard *guard);

/* Before the command line is parsed: so that it may set any guard's parameters. */
void guard_register_params(void);
void guard_init(void);
const char *guard_name(void);
void guard_show(struct seq_file *m); /* /proc/vm/guard */

#endif
