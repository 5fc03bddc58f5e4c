/* The core's side of the guard seam: the hooks as the rest of mm/ calls them. */
#ifndef MM_GUARD_CORE_H
#define MM_GUARD_CORE_H

#include "mm/guard.h"

extern const struct vm_guard *vm_guard; /* the one chosen at boot; NULL: none */
extern u64 guard_cycles;                /* time spent inside its hooks */

void guard_call_mm_exit(struct mm_struct *mm);
void guard_call_fault(struct mm_struct *mm);
/* Only while there is a guard. */
bool guard_call_spare(const struct vm_scan *scan, const struct page *page);

/* irq context, every tick: has a hook been running for too long? */
void guard_watch_hook(void);
/* For a panic: prints which hook was running, if one was. */
void guard_report_hook(void);

/* Before the command line is parsed: so that it may set any guard's parameters. */
void guard_register_params(void);
void guard_init(void);
const char *guard_name(void);
void guard_show(struct seq_file *m); /* /proc/vm/guard */

#endif
