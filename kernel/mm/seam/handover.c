/*
 * How a policy starts, and how it hands all its pages over to another policy.
 *
 * A switch hands over every page, in order of frame number: first remove(SWITCH) from the old
 * policy, then the address spaces change over, then insert(ADOPT) into the new one. Pages that the
 * core holds at that moment are marked stale; when they are put back they are inserted instead.
 * Nothing sleeps in between, so no other task sees half a switch. If the new policy breaks a rule
 * during the switch, another one takes over at once, and the rest of the first switch is skipped.
 *
 * Compiled into the kernel, the simulator and the host tests, as mm/seam/rules.c is.
 */
#include "lib/string.h"
#include "mm/rules.h"
#include "mm/zone.h"

#define for_each_policy_mm(mm)                                                                     \
	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

void policy_start(const struct vm_policy *policy)
{
	int err = 0;

	policy_require_hooks(policy);
	vm_policy = policy;
	policy_timer.running = "init"; /* its time is not measured */
	if (policy->init)
		err = policy->init();
	policy_timer.running = NULL;
	if (err)
		rule_fatal(&policy_timer, "init", "init", "it does not start: error %d", -err);
}

/* Takes all pages and processes from the old policy. The pages keep PG_owned, by which hand_over
 * finds them. */
static void take_back(const struct vm_policy *old)
{
	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		if (page_test(pfn_page(pfn), PG_owned))
			old->remove(pfn_page(pfn), VM_OUT_SWITCH);
	for_each_policy_mm(mm) if (old->mm_exit) old->mm_exit(mm);
}

static void hand_over(struct page *page)
{
	if (page_test(page, PG_isolated))
		page_set(page, PG_stale);
	if (!page_test(page, PG_owned))
		return;
	page_clear(page, PG_owned);
	page_zone(page)->nr_owned--;
	policy_call_insert(page, page->owner, VM_IN_ADOPT, page_id_of(page));
}

void policy_take_over(const struct vm_policy *next, bool broken)
{
	const struct vm_policy *old = vm_policy;

	if (!broken)
		take_back(old);
	vm_policy = next;
	for_each_policy_mm(mm) memset(policy_mm(mm), 0, POLICY_MM_SIZE);
	for_each_policy_mm(mm) policy_call_mm_init(mm);
	for (u32 pfn = 0; pfn < max_pfn && vm_policy == next; pfn++)
		hand_over(pfn_page(pfn));
	if (!broken && old->exit)
		old->exit();
	if (vm_policy == next)
		world_switched();
}
