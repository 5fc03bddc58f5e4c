/*
 * A guard of your own: copy this file to kernel/mm/guard/NAME.c, replace "template" by that name
 * (sed -i s/template/NAME/g), and `make qemu CMDLINE=guard=NAME` boots it. You need not register
 * the guard anywhere.
 *
 * Begin with your theory: how you detect that the machine thrashes, which process's pages stay and
 * for how long, and why that helps. The rules are in mm/guard.h. As it stands this guard spares no
 * page: it is correct, and useless.
 */
#include "mm/guard.h"

static u64 nr_faults;

/* mm waits for a page that must be read. Decide here: how often does it wait, and which others do? */
static void template_fault(struct mm_struct *mm)
{
	(void)mm;
	nr_faults++;
}

/* The address space ends: drop every pointer to it. */
static void template_mm_exit(struct mm_struct *mm)
{
	(void)mm;
}

/* Must this page stay? Called for every page that the policy looks at: be quick. */
static bool template_spare(struct page *page, struct mm_struct *owner, const struct vm_scan *scan)
{
	(void)page, (void)owner, (void)scan;
	return false;
}

/* These numbers are in the telemetry, too; `tidemark watch` shows them. */
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
