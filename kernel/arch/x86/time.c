/*
 * The clock is the TSC. The timer is channel 0 of the 8254 (PIT) in mode 0: one interrupt per count
 * written, and silence until the next one is written. At boot the PIT also measures, once, the rate
 * of the TSC: both are read, the CPU sleeps until a count of 5 ms has ended, and both are read
 * again. The rate is rounded to whole MHz. Under icount that makes it exactly 1000, and then a
 * cycle is a nanosecond and no conversion is needed.
 *
 * Waking up to the nanosecond. In an exact machine, one instruction takes one nanosecond: QEMU with
 * icount. The kernel learns that only from `exact` on the command line. A TSC of 1,000 MHz proves
 * nothing, since some emulators count real nanoseconds. When an exact machine halts, QEMU advances
 * its clock to the next event, but two of its threads race: one may do so before the other has
 * counted the last instructions executed. Then the clock is too far ahead by exactly these
 * instructions (seen in 1 of 5 runs on a loaded host). So the CPU counts them itself, by reading
 * the TSC right before it halts, which leaves a few. And the interrupt that ends the wait first
 * spins to a fixed time after the event, ending in a slide of one-byte instructions that take a
 * nanosecond each. Whatever the clock showed before, it is identical from there on. If time does
 * not stand still after all and that moment has passed, the slide is skipped.
 *
 * Inspecting the machine without changing it. The kernel's own measurements execute instructions,
 * too, and in an exact machine these take time. So the clock can be stopped: it shows one instant,
 * and continues from that instant when the CPU has reached a time chosen beforehand, again by means
 * of the slide. This must not happen while the PIT counts, since the PIT cannot be stopped.
 */
#include "arch/time.h"
#include "arch/irq.h"
#include "arch/mmu.h"
#include "arch/task.h"
#include "arch/vdso.h"
#include "arch/x86/cpu.h"
#include "arch/x86/io.h"
#include "internal.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/string.h"
#include "sched/timer.h"
#include "tsc_rate.h"

enum { PIT_COUNTER0 = 0x40, PIT_CONTROL = 0x43, PIT_MODE0 = 0x30, PIT_LATCH0 = 0x00 };
#define PIT_MAX 0xFFFFu
#define PIT_MAX_NS 54900000u
#define CALIBRATION_TICKS 5966u
#define WAKE_MARGIN 500u /* ns from the event to the fixed time */
#define SLIDE 64u        /* more than one iteration of the loop before it */

u64 clock_start;
u64 clock_zero; /* cycles: clock_ns would be 0 here if the clock had never stopped */
u32 clock_reader = KERNEL_BASE; /* no program executes there */
static u32 ns_scale; /* ns per cycle << CLOCK_SCALE_SHIFT; 0: exactly 1 */
static bool plain = true; /* a cycle is a nanosecond, and the clock runs */
static bool stopped;
static u64 stopped_at, goes_at; /* cycles: the instant of the stop, the end of the stop */
static u64 armed_ns; /* when the PIT fires; 0: not armed, the interrupt has come */
static u64 realtime_offset_ns; /* realtime - clock_ns */
static u64 wake_cycles; /* the fixed time that ends a wait for the PIT */
static void (*clock_moved)(u64 zero); /* NULL: programs do not read the clock themselves */
static bool exact;
static bool halted;
static volatile bool calibrated;

PARAM_BOOL("exact", exact, "time is virtual, an instruction a nanosecond (icount)", AT_BOOT);

u64 cycles_to_ns(u64 cycles)
{
	return likely(!ns_scale) ? cycles : clock_scale(cycles, ns_scale);
}

u64 clock_cycles(void)
{
	return stopped ? stopped_at : cycles_now();
}

u64 clock_ns(void)
{
	if (likely(plain))
		return clock_stamp();
	return cycles_to_ns(clock_cycles() - clock_zero);
}

bool clock_is_exact(void)
{
	return exact;
}

void clock_begin(void)
{
	clock_zero = cycles_now();
}

u64 clock_realtime_ns(void)
{
	return clock_ns() + realtime_offset_ns;
}

void clock_share(u64 *realtime, u32 *scale, void (*moved)(u64 zero))
{
	*realtime = realtime_offset_ns;
	*scale = ns_scale;
	clock_moved = moved;
	moved(clock_zero);
}

/* The PIT counts once per 838.095 ns. */
static void pit_start(u32 ticks)
{
	wake_cycles = cycles_now() + ticks * 838u + ticks / 10 + WAKE_MARGIN;
	outb(PIT_COUNTER0, ticks & 0xFF);
	outb(PIT_COUNTER0, ticks >> 8);
}

static u32 pit_read(void)
{
	u32 low;

	outb(PIT_CONTROL, PIT_LATCH0);
	low = inb(PIT_COUNTER0);
	return low | inb(PIT_COUNTER0) << 8;
}

/* Leaves a running count alone if it ends before when_ns and may_be_early is set: the timer core
 * will ask again, which costs less than writing a new count. */
void timer_arm(u64 when_ns, bool may_be_early)
{
	u64 now = clock_ns();
	u32 delta;

	if (!when_ns || (may_be_early && armed_ns && armed_ns <= when_ns))
		return;
	delta = when_ns <= now ? 0 : MIN(when_ns - now, (u64)PIT_MAX_NS);
	armed_ns = now + delta + 1;
	pit_start(((u64)delta * PIT_HZ >> 10) / (1000000000u >> 10) + 1);
}

void timer_disarm(void)
{
	armed_ns = 0;
}

void cpu_idle_wait(void)
{
	halted = true;
	__asm__ volatile("rdtsc\n\tsti\n\thlt" ::: "eax", "edx", "memory");
	halted = false;
}

/* Returns a constant number of instructions after `cycles`, which is more than SLIDE from now. */
static out_of_line void spin_until(u64 cycles)
{
	while ((s64)(cycles - cycles_now()) > (s64)SLIDE)
		;
	__asm__ volatile("rdtsc\n\t"
			 "mov %0, %%edx\n\t"
			 "sub %%eax, %%edx\n\t"
			 "cmp %1, %%edx\n\t"
			 "ja 1f\n\t"
			 "mov $1f, %%eax\n\t"
			 "sub %%edx, %%eax\n\t"
			 "jmp *%%eax\n\t"
			 ".skip %c1, 0x90\n"
			 "1:"
			 :
			 : "m"(cycles), "i"(SLIDE)
			 : "eax", "edx", "cc");
}

/* If the timer's interrupt came much too early, waits until the right time: the interrupt belongs
 * to a count that ended just before it was replaced. */
static void settle_wake_time(void)
{
	s64 early = wake_cycles - cycles_now();

	if (exact && halted && !ns_scale && early >= (s64)SLIDE && early <= 2 * (s64)WAKE_MARGIN)
		spin_until(wake_cycles);
}

void clock_stop(void)
{
	stopped_at = cycles_now();
	stopped = exact && !ns_scale && !armed_ns;
	plain = !ns_scale && !stopped;
}

u64 clock_lost(u32 spare)
{
	goes_at = cycles_now() + spare;
	return stopped ? goes_at - stopped_at : 0;
}

void clock_go(void)
{
	if (!stopped)
		return;
	clock_zero += goes_at - stopped_at;
	stopped = false;
	plain = true;
	if (clock_moved)
		clock_moved(clock_zero);
	spin_until(goes_at);
}

static void pit_interrupt(void)
{
	settle_wake_time();
	armed_ns = 0;
	timer_interrupt();
}

static void calibration_interrupt(void)
{
	settle_wake_time();
	calibrated = true;
}

static u32 measure_mhz(void)
{
	u64 start, cycles;
	u32 from, ticks;

	irq_register(IRQ_TIMER, calibration_interrupt);
	outb(PIT_CONTROL, PIT_MODE0);
	irq_take_pending(); /* a tick of the BIOS's clock, which has run so far */
	calibrated = false;
	pit_start(CALIBRATION_TICKS);
	start = cycles_now();
	from = pit_read();
	while (!calibrated) {
		cpu_idle_wait();
		irq_disable();
	}
	cycles = cycles_now() - start;
	ticks = (from - pit_read()) & PIT_MAX;
	return tsc_mhz(cycles, ticks, CALIBRATION_TICKS);
}

static u8 cmos_read(u8 reg)
{
	outb(0x70, reg);
	return inb(0x71);
}

static u32 from_bcd(u8 v)
{
	return (v >> 4) * 10 + (v & 15);
}

/* Days since 1970 of a date in the Gregorian calendar; years begin in March here. */
static u32 days_from_civil(u32 year, u32 month, u32 day)
{
	u32 y = month <= 2 ? year - 1 : year;
	u32 m = month <= 2 ? month + 9 : month - 3;

	return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

/* Registers 0, 2, 4: time; 7, 8, 9: date. */
static void rtc_read(u8 v[6])
{
	static const u8 regs[] = { 0, 2, 4, 7, 8, 9 };
	u32 i;

	while (cmos_read(0x0A) & 0x80)
		; /* an update is in progress: 2 ms at most */
	for (i = 0; i < ARRAY_SIZE(regs); i++)
		v[i] = cmos_read(regs[i]);
}

/* Reads until two readings agree, in case an update came between the registers. */
static u64 rtc_seconds(void)
{
	bool bcd = !(cmos_read(0x0B) & 4);
	u8 v[6], again[6];
	u32 i;

	rtc_read(v);
	for (rtc_read(again); memcmp(v, again, sizeof(v)); rtc_read(again))
		memcpy(v, again, sizeof(v));
	for (i = 0; bcd && i < ARRAY_SIZE(v); i++)
		v[i] = from_bcd(v[i]);
	return days_from_civil(2000 + v[5], v[4], v[3]) * 86400ull + v[2] * 3600 + v[1] * 60 + v[0];
}

/* Stops the RTC. It is not read again. With virtual time its alarm would be the only event left to
 * wait for at an idle prompt, so that every wait would last until midnight. */
static void rtc_stop(void)
{
	u8 b = cmos_read(0x0B);

	outb(0x70, 0x0B);
	outb(0x71, b | 0x80);
}

void time_init(void)
{
	unsigned long flags = irq_save();
	u32 mhz;

	irq_connect();
	mhz = measure_mhz();
	if (mhz < 4)
		panic("the TSC does not count (%u MHz)", mhz);
	ns_scale = mhz == 1000 ? 0 : (1000ull << CLOCK_SCALE_SHIFT) / mhz;
	plain = !ns_scale;
	realtime_offset_ns = rtc_seconds() * 1000000000ull - clock_ns();
	rtc_stop();
	irq_register(IRQ_TIMER, pit_interrupt);
	if (armed_ns) { /* armed earlier; the measurement has overwritten that count */
		armed_ns = 0;
		timer_arm(clock_ns(), true);
	}
	irq_restore(flags);
}
