/*
 * Choosing the policy: vm= at boot. Later, policy_files.c switches to another; mm/seam/handover.c
 * does the switch itself.
 *
 * The lists of a policy that broke a rule still contain the pages that it had, so it is never
 * switched on again.
 */
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/control.h"
#include "mm/policy_core.h"

#define DEFAULT "2q"
#define FALLBACK "fifo"

#define MAX_POLICIES 128

static const struct vm_policy *chosen; /* vm= */
static bool broken[MAX_POLICIES];      /* indexed as policy_table */

const struct vm_policy *policy_find(const char *name)
{
	u32 i = 0;

	while (policy_at(i) && strcmp(policy_at(i)->name, name))
		i++;
	return policy_at(i);
}

static const char *choose(const char *text)
{
	chosen = policy_find(text);
	return chosen ? NULL : "no such policy";
}

static void list_policies(char *buf, size_t size)
{
	*buf = '\0';
	for (u32 i = 0; policy_at(i); i++) {
		strlcat(buf, i ? "|" : "", size);
		strlcat(buf, policy_at(i)->name, size);
	}
}

static void show_policy(char *buf, size_t size)
{
	strlcpy(buf, vm_policy ? vm_policy->name : "", size);
}

PARAM_ENUM("vm", choose, list_policies, show_policy, "page-replacement policy", AT_BOOT);

bool *policy_broken_mark(const struct vm_policy *policy)
{
	u32 i = 0;

	while (policy_at(i) != policy)
		i++;
	return &broken[i];
}

bool policy_is_fallback(void)
{
	return !strcmp(vm_policy->name, FALLBACK);
}

void policy_fall_back(void)
{
	if (policy_is_fallback())
		panic("the fallback policy itself is broken");
	*policy_broken_mark(vm_policy) = true;
	policy_take_over(policy_find(FALLBACK), true);
}

void policy_register_params(void)
{
	for (u32 i = 0; policy_at(i); i++)
		if (policy_at(i)->params)
			param_register(policy_at(i)->name, policy_at(i)->params);
}

void policy_init(void)
{
	for (u32 i = 0; policy_at(i); i++) {
		ASSERT(i < MAX_POLICIES);
		policy_require_hooks(policy_at(i));
	}
	policy_start(chosen ?: policy_find(DEFAULT));
	printk("policy: %s, %s\n", vm_policy->name, vm_policy->summary);
}
