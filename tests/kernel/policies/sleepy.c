/* Sleeps in a hook, so that other tasks may call hooks. */
#include "base.h"

void ksleep_ns(u64 ns);

static struct page *sleepy_select(struct vm_scan *scan)
{
	ksleep_ns(5000000);
	return base_select(scan);
}

static const struct vm_policy sleepy = {
	.name = "sleepy",
	.summary = "sleeps in a hook",
	.insert = base_insert,
	.remove = base_remove,
	.select = sleepy_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(sleepy);
