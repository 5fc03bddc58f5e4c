/* A guard that has every process's pages read back, once, after a second. */
#include "mm/guard.h"

static bool asked;

static bool once_tick(void)
{
	if (asked || vm_now() < 1000000000)
		return true;
	asked = true;
	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		vm_prepage(mm);
	return true;
}

static const struct vm_guard once = {
	.name = "once",
	.summary = "reads all processes back, once",
	.tick_ms = 10,
	.tick = once_tick,
};
VM_GUARD(once);
