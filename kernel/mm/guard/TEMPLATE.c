/*
 * A guard of your own: copy this file to kernel/mm/guard/NAME.c, replace "template" by that name
 * (sed -i s/template/NAME/g), and `make qemu CMDLINE=guard=NAME` boots it. Nothing else has to be
 * told about it.
 *
 * Begin with your theory: how you know that the machine thrashes, whose pages stay, for how long,
 * and why that helps. The rules are in mm/guard.h. As it stands this guard spares nothing:
 * correct, and of no use.
 */
#include "mm/guard.h"

static u64 nr_faults;

/* mm waits for a page that must be read. How often, and who else? Here decisions are made. */
static void template_fault(struct mm_struct *mm)
{
	(void)mm;
	nr_faults++;
}

/* This address space ends: forget it, a pointer to it would be wild. */
static void template_mm_exit(struct mm_struct *mm)
{
	(void)mm;
}

/* Shall this page stay? Asked for every page that is looked at: be quick. */
static bool template_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)page, (void)owner, (void)scan;
	return false;
}

/* These numbers are in the telemetry, too, and `tidemark watch` shows them. */
static void template_show(struct seq_file *m)
{
	show_u64(m, "faults", nr_faults);
}

static const struct vm_guard template = {
	.name = "template",
	.summary = "spares nothing",
	.fault = template_fault,
	.mm_exit = template_mm_exit,
	.spare = template_spare,
	.show = template_show,
};
VM_GUARD(template);
