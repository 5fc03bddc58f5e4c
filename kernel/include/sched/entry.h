/* The account changes at trap entry and exit, for traps from user mode. */
#ifndef SCHED_ENTRY_H
#define SCHED_ENTRY_H

#include "sched/current.h"

/* mm/space/young.c: ignores the use that ended the last fault. */
void swallow_faulting_use(void);

static inline void account_enter_kernel(void)
{
	acct_switch(&current->acct, ACCT_KERNEL);
	if (unlikely(current->fresh_va))
		swallow_faulting_use();
}

static inline void account_exit_kernel(void)
{
	acct_switch(&current->acct, ACCT_USER);
}

#endif
