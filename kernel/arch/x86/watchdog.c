/*
 * The watchdog: QEMU's ib700 counts machine time and, started with -action watchdog=inject-nmi,
 * sends an NMI if it has not been fed for 2 s. The scheduler's tick feeds it as long as it sees
 * progress. A hang with interrupts off stops the tick, and a loop with interrupts on shows no
 * progress. Unless a run is exact, machine time is host time, and the host may have stopped QEMU
 * for 2 s: the first NMI then only starts another 2 s. While the kernel's clock stands still (sched/still.c),
 * the device counts on. So it is fed then, too: with a thousand processes that often sleep, the clock stands
 * still most of the time.
 */
#include "arch/machine.h"
#include "arch/time.h"
#include "arch/x86/io.h"
#include "internal.h"

enum { IB700_DISABLE = 0x441, IB700_ENABLE = 0x443, IB700_2S = 14 };
#define FEED_NS 500000000u

static bool enabled, running;
static u64 fed_ns;
static u64 excused_ns; /* fed_ns when an NMI was last attributed to the host */

void watchdog_init(void)
{
	enabled = true;
	watchdog_feed();
}

/* Called much more often than the device needs. */
void watchdog_feed(void)
{
	u64 now = clock_ns();

	if (!enabled || (running && now - fed_ns < FEED_NS))
		return;
	running = true;
	fed_ns = now;
	outb(IB700_ENABLE, IB700_2S);
}

void watchdog_feed_still(void)
{
	if (running)
		outb(IB700_ENABLE, IB700_2S);
}

bool watchdog_waits_again(void)
{
	if (clock_is_exact() || !running || excused_ns == fed_ns)
		return false;
	excused_ns = fed_ns;
	outb(IB700_ENABLE, IB700_2S);
	return true;
}

void watchdog_pause(void)
{
	if (running)
		outb(IB700_DISABLE, 0);
	running = false;
}
