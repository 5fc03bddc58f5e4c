/*
 * Choosing the policy: vm= at boot, /proc/sys/vm/policy while running.
 *
 * A switch hands every page over, in order of frame number: remove(SWITCH) from the old policy,
 * then the address spaces change hands, then insert(ADOPT) into the new one. Pages that the core
 * holds at that moment are marked stale, and become insertions when they come back. Nothing
 * sleeps in between, so nobody sees half a switch. When the new policy breaks a rule meanwhile, the
 * fallback takes over at once, inside the switch, whose rest is then dropped.
 *
 * The lists of a policy that broke a rule still name the pages it had: it is never switched on
 * again.
 */
#include "errno.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/seq_file.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/zone.h"
#include "observe/telemetry.h"

extern const struct vm_policy *const __policies_start[], *const __policies_end[];

#define for_each_policy(p)                                                                         \
	for (const struct vm_policy *const *p = __policies_start; p < __policies_end; p++)

static const struct vm_policy *chosen; /* vm= */
static u32 broken_policies;            /* a bit per entry of the table */

const struct vm_policy *policy_find(const char *name)
{
	for_each_policy(p)
		if (!strcmp((*p)->name, name))
			return *p;
	return NULL;
}

static const char *choose(const char *text)
{
	chosen = policy_find(text);
	return chosen ? NULL : "no such policy";
}

static void list_policies(char *buf, size_t size)
{
	*buf = '\0';
	for_each_policy(p) {
		strlcat(buf, p == __policies_start ? "" : "|", size);
		strlcat(buf, (*p)->name, size);
	}
}

static void show_policy(char *buf, size_t size)
{
	strlcpy(buf, vm_policy ? vm_policy->name : "", size);
}

PARAM_ENUM("vm", choose, list_policies, show_policy, "page-replacement policy", AT_BOOT);

static u32 policy_bit(const struct vm_policy *policy)
{
	u32 i = 0;

	while (__policies_start[i] != policy)
		i++;
	ASSERT(i < 32);
	return 1u << i;
}

/* The pages stay marked as owned: so hand_over finds them. */
static void take_back(const struct vm_policy *old)
{
	struct mm_struct *mm;

	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		if (page_test(pfn_page(pfn), PG_owned))
			old->remove(pfn_page(pfn), VM_OUT_SWITCH);
	for_each_mm(mm)
		if (old->mm_exit)
			old->mm_exit(mm);
}

static void hand_over(struct page *page)
{
	struct page_id none = { 0 };

	if (page_test(page, PG_isolated))
		page_set(page, PG_stale);
	if (!page_test(page, PG_owned))
		return;
	page_clear(page, PG_owned);
	page_zone(page)->nr_owned--;
	policy_call_insert(page, page->owner, VM_IN_ADOPT, none);
}

void policy_take_over(const struct vm_policy *next, bool broken)
{
	const struct vm_policy *old = vm_policy;
	struct mm_struct *mm;

	if (broken)
		broken_policies |= policy_bit(old);
	else
		take_back(old);
	vm_policy = next;
	for_each_mm(mm)
		memset(mm->policy, 0, sizeof(mm->policy));
	for_each_mm(mm)
		policy_call_mm_init(mm);
	for (u32 pfn = 0; pfn < max_pfn && vm_policy == next; pfn++)
		hand_over(pfn_page(pfn));
	if (!broken && old->exit)
		old->exit();
	if (vm_policy != next)
		return;
	telemetry_event("policy", "\"name\":\"%s\"", next->name);
	admission_recheck();
}

int policy_switch(const char *name)
{
	const struct vm_policy *next = policy_find(name);
	int err = 0;

	if (!next)
		return -EINVAL;
	if (next == vm_policy)
		return 0;
	if (broken_policies & policy_bit(next))
		return -EPERM;
	if (next->init)
		err = next->init();
	if (!err)
		policy_take_over(next, false);
	return err;
}

static void check_hooks(const struct vm_policy *p)
{
	if (!p->insert || !p->remove || !p->select || !p->putback || !p->check)
		panic("policy %s lacks one of insert, remove, select, putback, check", p->name);
}

void policy_register_params(void)
{
	for_each_policy(p)
		if ((*p)->params)
			param_register((*p)->name, (*p)->params);
}

void policy_init(void)
{
	int err;

	for_each_policy(p)
		check_hooks(*p);
	vm_policy = chosen ?: policy_find("2q");
	err = vm_policy->init ? vm_policy->init() : 0;
	if (err)
		panic("policy %s does not start: error %d", vm_policy->name, -err);
	printk("policy: %s, %s\n", vm_policy->name, vm_policy->summary);
}

void policy_names(struct seq_file *m)
{
	for_each_policy(p)
		seq_printf(m, "%s%s%s%s", p == __policies_start ? "" : " ",
			   *p == vm_policy ? "[" : "", (*p)->name, *p == vm_policy ? "]" : "");
	seq_putc(m, '\n');
}

void policy_show(struct seq_file *m)
{
	seq_printf(m, "policy: %s\nsummary: %s\nviolations: %u\nowned: %u\nisolated: %u\n",
		   vm_policy->name, vm_policy->summary, policy_violations(),
		   zones[0].nr_owned + zones[1].nr_owned + zones[2].nr_owned, vm_nr_isolated);
	for (const struct vm_param *p = vm_policy->params; p && p->name; p++)
		seq_printf(m, "%s: %u%s%s\n", p->name, *p->value, p->unit ? " " : "",
			   p->unit ?: "");
	if (vm_policy->show)
		vm_policy->show(m);
}
