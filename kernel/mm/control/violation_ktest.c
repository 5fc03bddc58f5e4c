/* The consequences of a broken rule in the kernel. */
#include "lib/ktap.h"
#include "lib/string.h"
#include "mm/control.h"
#include "mm/rules.h"

KTEST(world, slow_fallback_goes_on)
{
	char before[32];
	u32 violations = policy_violations();

	strlcpy(before, vm_policy->name, sizeof(before));
	EXPECT_EQ(policy_switch("fifo"), 0);
	rule_broken(&policy_timer, "time", "insert", NULL, "hook insert took long");
	EXPECT(policy_is_fallback());
	EXPECT_EQ(policy_violations(), violations);
	EXPECT_EQ(policy_switch(before), 0);
}
