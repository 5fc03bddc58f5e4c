/* A guard that lets nobody run. */
#include "mm/guard.h"

static bool never_may_run(struct mm_struct *mm)
{
	(void)mm;
	return false;
}

static const struct vm_guard never = {
	.name = "never",
	.summary = "nobody may run",
	.may_run = never_may_run,
};
VM_GUARD(never);
