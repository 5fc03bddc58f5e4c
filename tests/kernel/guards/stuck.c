/* A guard whose hook never returns. */
#include "mm/guard.h"

static bool stuck_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)page, (void)owner;
	while (scan) /* with many instructions per turn, because the emulator is then faster */
		__asm__ volatile(".rept 500; nop; .endr");
	return false;
}

static const struct vm_guard stuck = {
	.name = "stuck",
	.summary = "never comes back",
	.spare = stuck_spare,
};
VM_GUARD(stuck);
