/* A guard that lets no process run. */
#include "mm/guard.h"

static bool never_may_run(struct mm_struct *mm)
{
	(void)mm;
	return false;
}

static const struct vm_guard never = {
	.name = "never",
	.summary = "no process may run",
	.may_run = never_may_run,
};
VM_GUARD(never);
