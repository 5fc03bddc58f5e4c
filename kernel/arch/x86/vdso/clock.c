/*
 * The vDSO: functions of the kernel that run in user mode. The kernel maps this library, one page,
 * into each program and passes its address in the auxiliary vector (AT_SYSINFO_EHDR), where C
 * libraries find it. They read the clock here without a system call.
 *
 * The page after the library, `clock_values`, tells how to compute the time from the TSC, as the kernel does
 * (kernel/arch/x86/time.c). For what is not known here, such as the CPU time of a
 * process, these functions make the system call themselves.
 *
 * Addresses are not checked: a bad pointer is a fault of the program, and ends in SIGSEGV.
 */
#include "arch/vdso.h"

#define NSEC 1000000000u
#define EXPORT __attribute__((visibility("default")))

enum { NR_GETTIMEOFDAY = 78, NR_TIME = 13, NR_CLOCK_GETTIME = 265, NR_CLOCK_GETTIME64 = 403 };
enum { REALTIME, MONOTONIC, MONOTONIC_RAW = 4, REALTIME_COARSE, MONOTONIC_COARSE, BOOTTIME };

#define SINCE_1970 (1u << REALTIME | 1u << REALTIME_COARSE)
#define SINCE_BOOT (1u << MONOTONIC | 1u << MONOTONIC_RAW | 1u << MONOTONIC_COARSE | 1u << BOOTTIME)

struct timespec32 {
	u32 sec, nsec;
};

struct timespec64 {
	u32 sec, sec_high, nsec, nsec_high;
};

struct timeval32 {
	u32 sec, usec;
};

extern struct clock_page clock_values __attribute__((visibility("hidden")));
/* vsyscall.S */
u64 read_cycles(const struct clock_page *page) __attribute__((fastcall, visibility("hidden")));

EXPORT int __vdso_clock_gettime(u32 clock, struct timespec32 *ts);
EXPORT int __vdso_clock_gettime64(u32 clock, struct timespec64 *ts);
EXPORT int __vdso_gettimeofday(struct timeval32 *tv, u32 *tz);
EXPORT long __vdso_time(u32 *sec);

static inline long syscall2(long nr, u32 a, const void *b)
{
	__asm__ volatile("int $0x80" : "+a"(nr) : "b"(a), "c"(b) : "memory");
	return nr;
}

static out_of_line u64 scaled(u64 cycles)
{
	return clock_scale(cycles, clock_values.ns_scale);
}

/* Nanoseconds since 1970 or since boot. */
static inline u64 read_clock(bool since_1970)
{
	u64 ns = read_cycles(&clock_values);

	if (unlikely(clock_values.ns_scale))
		ns = scaled(ns);
	return since_1970 ? ns + clock_values.realtime_ns : ns;
}

/* One division is enough up to the year 2106; then the quotient exceeds 32 bits. Returns false. */
static inline bool split(u64 ns, u32 *sec, u32 *nsec)
{
	if (ns >> 32 >= NSEC)
		return false;
	__asm__("divl %4"
		: "=a"(*sec), "=d"(*nsec)
		: "0"((u32)ns), "1"((u32)(ns >> 32)), "r"(NSEC));
	return true;
}

static inline bool read_time(u32 clock, u32 *sec, u32 *nsec)
{
	u32 bit = clock < 32 ? 1u << clock : 0;

	if (bit & SINCE_BOOT)
		return split(read_clock(false), sec, nsec);
	return bit & SINCE_1970 && split(read_clock(true), sec, nsec);
}

int __vdso_clock_gettime(u32 clock, struct timespec32 *ts)
{
	u32 sec, nsec;

	if (!read_time(clock, &sec, &nsec))
		return syscall2(NR_CLOCK_GETTIME, clock, ts);
	ts->sec = sec;
	ts->nsec = nsec;
	return 0;
}

int __vdso_clock_gettime64(u32 clock, struct timespec64 *ts)
{
	u32 sec, nsec;

	if (!read_time(clock, &sec, &nsec))
		return syscall2(NR_CLOCK_GETTIME64, clock, ts);
	*ts = (struct timespec64){ .sec = sec, .nsec = nsec };
	return 0;
}

int __vdso_gettimeofday(struct timeval32 *tv, u32 *tz)
{
	u32 sec, nsec;

	if (!read_time(REALTIME, &sec, &nsec))
		return syscall2(NR_GETTIMEOFDAY, (u32)tv, tz);
	if (tv)
		*tv = (struct timeval32){ sec, nsec / 1000 };
	if (tz)
		tz[0] = tz[1] = 0;
	return 0;
}

long __vdso_time(u32 *to)
{
	u32 sec, nsec;

	if (!read_time(REALTIME, &sec, &nsec))
		return syscall2(NR_TIME, (u32)to, NULL);
	if (to)
		*to = sec;
	return sec;
}
