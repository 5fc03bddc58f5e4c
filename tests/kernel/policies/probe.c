/* Follows every rule, and counts pages that return, those that do so after forget() was called for them, and those
 * that a process says it does not need. */
#include "base.h"

static u32 last_forgotten;
static u64 nr_refaults, nr_forgotten_first, nr_not_needed;

static void probe_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	if ((how == VM_IN_FAULT || how == VM_IN_CLAIM) && from.store) {
		nr_refaults++;
		nr_forgotten_first += from.index == last_forgotten;
	}
	base_insert(page, mm, how, from);
}

static void probe_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)page, (void)mm;
	nr_not_needed += how == VM_TOUCH_DONTNEED;
}

static void probe_forget(struct page_id id)
{
	last_forgotten = id.index;
}

static void probe_show(struct seq_file *m)
{
	show_u64(m, "refaults", nr_refaults);
	show_u64(m, "forgotten_first", nr_forgotten_first);
	show_u64(m, "not_needed", nr_not_needed);
}

static const struct vm_policy probe = {
	.name = "probe",
	.summary = "counts ghosts that died too soon",
	.insert = probe_insert,
	.touch = probe_touch,
	.remove = base_remove,
	.select = base_select,
	.putback = base_putback,
	.forget = probe_forget,
	.check = base_check,
	.show = probe_show,
};
VM_POLICY(probe);
