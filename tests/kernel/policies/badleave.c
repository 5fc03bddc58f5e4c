/* Dereferences a null pointer when another policy takes over. */
#include "base.h"

static void badleave_remove(struct page *page, enum vm_out why)
{
	u32 *nothing = NULL;

	__asm__("" : "+r"(nothing));
	if (why == VM_OUT_SWITCH)
		++*nothing;
	base_remove(page, why);
}

static const struct vm_policy badleave = {
	.name = "badleave",
	.summary = "does not let go",
	.insert = base_insert,
	.remove = badleave_remove,
	.select = base_select,
	.putback = base_putback,
	.check = base_check,
};
VM_POLICY(badleave);
