/*
 * waiting: select, pselect6 and ppoll, by their numbers. On Linux, too, this must report no
 * failures.
 */
#include "check.h"
#include "lab.h"
#include <sys/syscall.h>
#include <sys/time.h>

#define HELP "usage: waiting\n"

enum {
	SELECT = 82,
	NEWSELECT = 142,
	PSELECT6 = 308,
	PPOLL = 309,
	PSELECT6_64 = 413,
	PPOLL_64 = 414
};
enum { BITS = 1024, WORDS = BITS / 32, FORBIDDEN = 0xC0100000 };

struct set {
	uint32_t bits[WORDS];
};

struct time32 {
	int32_t sec, part;
};

struct time64 {
	int64_t sec, part;
};

struct pollfd32 {
	int32_t fd;
	uint16_t events, revents;
};

static int ends[2]; /* of a pipe */
static volatile int nr_alarms;
static volatile bool blocked_in_handler;

static struct set set_of(int fd)
{
	struct set set = { 0 };

	set.bits[fd / 32] = 1u << fd % 32;
	return set;
}

static bool has(const struct set *set, int fd)
{
	return set->bits[fd / 32] >> fd % 32 & 1;
}

static int new_select(int n, struct set *in, struct set *out, struct set *except,
		      struct time32 *time)
{
	return syscall(NEWSELECT, n, in, out, except, time);
}

static void empty_pipe(void)
{
	struct set in = set_of(ends[0]), out = set_of(ends[1]), both = set_of(ends[0]);
	struct time32 now = { 0, 0 }, soon = { 0, 20000 };

	CHECK(new_select(BITS, &in, NULL, NULL, &now) == 0 && !has(&in, ends[0]));
	in = set_of(ends[0]);
	CHECK(new_select(BITS, &in, &out, NULL, &now) == 1);
	CHECK(!has(&in, ends[0]) && has(&out, ends[1]));
	CHECK(new_select(ends[0], &both, NULL, NULL, &now) == 0); /* the bit is beyond n */
	in = set_of(ends[0]);
	CHECK(new_select(BITS, &in, NULL, NULL, &soon) == 0);
	CHECK(soon.sec == 0 && soon.part == 0);
	CHECK(new_select(0, NULL, NULL, NULL, &now) == 0);
}

static void full_pipe(void)
{
	struct set in = set_of(ends[0]), except = set_of(ends[0]);
	struct time32 long_time = { 100, 0 };
	uint32_t arguments[5] = { BITS, (uint32_t)&in, 0, 0, 0 };

	CHECK(write(ends[1], "x", 1) == 1);
	CHECK(new_select(BITS, &in, NULL, &except, &long_time) == 1);
	CHECK(has(&in, ends[0]) && !has(&except, ends[0]));
	CHECK(long_time.sec == 99 || (long_time.sec == 100 && !long_time.part));
	CHECK(syscall(SELECT, arguments) == 1 && has(&in, ends[0]));
	CHECK(new_select(BITS, &in, NULL, NULL, NULL) == 1);
}

static void bad_arguments(void)
{
	struct set in = set_of(ends[0]), closed = set_of(60);
	struct time32 negative = { -1, 0 }, odd = { 0, -1 }, many = { 0, 3000000 }, now = { 0, 0 };
	struct time32 bad_part = { 0, 1000000000 };

	FAILS(new_select(-1, &in, NULL, NULL, &now), EINVAL);
	FAILS(new_select(BITS, &in, NULL, NULL, &negative), EINVAL);
	FAILS(new_select(BITS, &in, NULL, NULL, &odd), EINVAL);
	CHECK(new_select(BITS, &in, NULL, NULL, &many) == 1);
	FAILS(new_select(BITS, &closed, NULL, NULL, &now), EBADF);
	FAILS(new_select(BITS, (void *)FORBIDDEN, NULL, NULL, &now), EFAULT);
	FAILS(new_select(BITS, NULL, NULL, NULL, (void *)FORBIDDEN), EFAULT);
	FAILS(syscall(SELECT, FORBIDDEN), EFAULT);
	FAILS(syscall(PSELECT6, 0, NULL, NULL, NULL, &bad_part, NULL), EINVAL);
	FAILS(syscall(PSELECT6, 0, NULL, NULL, NULL, &now, FORBIDDEN), EFAULT);
	FAILS(syscall(PPOLL, NULL, 0, &negative, NULL, 0), EINVAL);
	FAILS(syscall(PPOLL, NULL, 0, FORBIDDEN, NULL, 0), EFAULT);
}

static void wrong_masks(void)
{
	struct time32 now = { 0, 0 };
	uint64_t mask = 0;
	uint32_t given[2] = { (uint32_t)&mask, 4 };

	FAILS(syscall(PPOLL, NULL, 0, &now, &mask, 4), EINVAL);
	FAILS(syscall(PPOLL, NULL, 0, &now, FORBIDDEN, 8), EFAULT);
	FAILS(syscall(PSELECT6, 0, NULL, NULL, NULL, &now, given), EINVAL);
	given[1] = 8;
	CHECK(syscall(PSELECT6, 0, NULL, NULL, NULL, &now, given) == 0);
	given[0] = 0;
	CHECK(syscall(PSELECT6, 0, NULL, NULL, NULL, &now, given) == 0);
}

static void polled_with_time(void)
{
	struct time64 wide = { 50, 0 }, short_wide = { 0, 10000000 };
	struct pollfd32 p = { .fd = ends[0], .events = 1 };
	struct set in = set_of(ends[0]);

	CHECK(syscall(PPOLL_64, &p, 1, &wide, NULL, 0) == 1 && p.revents == 1);
	CHECK(wide.sec == 49 || (wide.sec == 50 && !wide.part));
	CHECK(syscall(PPOLL_64, NULL, 0, &short_wide, NULL, 0) == 0 && !short_wide.part);
	wide = (struct time64){ 50, 0 };
	CHECK(syscall(PSELECT6_64, BITS, &in, NULL, NULL, &wide, NULL) == 1 && has(&in, ends[0]));
}

static void on_alarm(int signal)
{
	sigset_t mask;

	(void)signal;
	nr_alarms++;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	blocked_in_handler = sigismember(&mask, SIGUSR1);
}

/* The mask of a call unblocks SIGALRM and blocks SIGUSR1 while the call waits. SIGALRM's handler still runs
 * with that mask. */
static void mask_of_the_call(void)
{
	uint64_t mask = 1u << (SIGUSR1 - 1);
	uint32_t given[2] = { (uint32_t)&mask, sizeof(mask) };
	struct itimerval soon = { .it_value.tv_usec = 20000 };
	sigset_t blocked, now;

	signal(SIGALRM, on_alarm);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGALRM);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	for (int nr = 1; nr <= 2; nr++) {
		setitimer(ITIMER_REAL, &soon, NULL);
		if (nr == 1)
			FAILS(syscall(PSELECT6, 0, NULL, NULL, NULL, NULL, given), EINTR);
		else
			FAILS(syscall(PPOLL, NULL, 0, NULL, &mask, sizeof(mask)), EINTR);
		sigprocmask(SIG_SETMASK, NULL, &now);
		CHECK(nr_alarms == nr && blocked_in_handler);
		CHECK(sigismember(&now, SIGALRM) && !sigismember(&now, SIGUSR1));
	}
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
}

/* Another process writes while this one waits. */
static void woken_by_a_write(void)
{
	struct set in = set_of(ends[0]);
	char c;

	CHECK(read(ends[0], &c, 1) == 1);
	if (!fork()) {
		usleep(20000);
		_exit(write(ends[1], "y", 1) != 1);
	}
	CHECK(new_select(BITS, &in, NULL, NULL, NULL) == 1 && has(&in, ends[0]));
	wait(NULL);
}

/* A closed writing end is readable (end of file); a closed reading end is an error of the writer. */
static void ends_that_close(void)
{
	struct set in = set_of(ends[0]), out;
	char c;

	CHECK(read(ends[0], &c, 1) == 1);
	close(ends[1]);
	CHECK(new_select(BITS, &in, NULL, NULL, NULL) == 1 && has(&in, ends[0]));
	CHECK(!pipe(ends));
	close(ends[0]);
	out = set_of(ends[1]);
	CHECK(new_select(BITS, NULL, &out, NULL, NULL) == 1 && has(&out, ends[1]));
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	CHECK(!pipe(ends));
	empty_pipe();
	full_pipe();
	bad_arguments();
	wrong_masks();
	polled_with_time();
	mask_of_the_call();
	woken_by_a_write();
	ends_that_close();
	return check_report("waiting");
}
