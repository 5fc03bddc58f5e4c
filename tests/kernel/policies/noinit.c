/* Fails in its init hook. */
#include "base.h"

static int noinit_init(void)
{
	return -12;
}

static const struct vm_policy noinit = {
	.name = "noinit",
	.summary = "does not start",
	.insert = base_insert,
	.remove = base_remove,
	.select = base_select,
	.putback = base_putback,
	.check = base_check,
	.init = noinit_init,
};
VM_POLICY(noinit);
