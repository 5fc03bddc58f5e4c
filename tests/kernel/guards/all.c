/* A guard that spares everything. */
#include "mm/guard.h"

static u64 nr_spared;

static bool all_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)page, (void)owner, (void)scan;
	nr_spared++;
	return true;
}

static void all_show(struct seq_file *m)
{
	show_u64(m, "spared", nr_spared);
	seq_printf(m, "for people: %u\n", 1);
}

static const struct vm_guard all = {
	.name = "all",
	.summary = "spares everything",
	.spare = all_spare,
	.show = all_show,
};
VM_GUARD(all);
