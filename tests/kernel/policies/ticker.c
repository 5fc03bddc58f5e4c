/* Requests in each tick that tick be called again at once. */
#include "base.h"

static bool ticker_tick(void)
{
	return true;
}

static const struct vm_policy ticker = {
	.name = "ticker",
	.summary = "ticks without end",
	.tick_ms = 10,
	.insert = base_insert,
	.remove = base_remove,
	.select = base_select,
	.putback = base_putback,
	.tick = ticker_tick,
	.check = base_check,
};
VM_POLICY(ticker);
