/* pipesize: the size of a pipe, read and changed while there are data in it. On Linux, too, this must report
 * no failures. */
#include "check.h"
#include "lab.h"
#include <fcntl.h>
#include <signal.h>

#define HELP "usage: pipesize\n"

enum { GET = 1032, SET = 1031, PAGE = 4096, DEFAULT = 65536 };

static int ends[2];
static unsigned written, got; /* bytes ever: byte n of the stream has the value of n */

static char byte_of(unsigned n)
{
	return n * 7 + n / 251;
}

static int put(int n)
{
	static char data[1 << 20];
	int done;

	for (int i = 0; i < n; i++)
		data[i] = byte_of(written + i);
	done = write(ends[1], data, n);
	written += done > 0 ? done : 0;
	return done;
}

static int take(int n)
{
	static char data[1 << 20];
	int done = read(ends[0], data, n);

	for (int i = 0; i < done; i++)
		if (data[i] != byte_of(got + i))
			return -2;
	got += done > 0 ? done : 0;
	return done;
}

static void sizes(void)
{
	CHECK(fcntl(ends[0], GET) == DEFAULT && fcntl(ends[1], GET) == DEFAULT);
	CHECK(fcntl(ends[1], SET, 5000) == 2 * PAGE && fcntl(ends[0], GET) == 2 * PAGE);
	CHECK(fcntl(ends[1], SET, 0) == PAGE && fcntl(ends[1], SET, 1 << 20) == 1 << 20);
	CHECK(fcntl(ends[1], SET, DEFAULT) == DEFAULT);
	FAILS(fcntl(ends[1], SET, 0x80000001), EINVAL);
	FAILS(fcntl(0, GET), EBADF);
	FAILS(fcntl(60, GET), EBADF);
}

static void fuller(void)
{
	CHECK(put(DEFAULT) == DEFAULT);
	FAILS(put(1), EAGAIN);
	FAILS(fcntl(ends[1], SET, DEFAULT / 2), EBUSY);
	CHECK(fcntl(ends[1], SET, DEFAULT) == DEFAULT);
	CHECK(fcntl(ends[1], SET, 2 * DEFAULT) == 2 * DEFAULT && put(DEFAULT) == DEFAULT);
	FAILS(put(1), EAGAIN);
	CHECK(take(2 * DEFAULT) == 2 * DEFAULT && fcntl(ends[1], SET, DEFAULT) == DEFAULT);
	FAILS(take(1), EAGAIN);
}

/* Changes the size of a pipe whose data begin in the middle of a page. */
static void shifted(void)
{
	for (int size = 1; size <= 64; size *= 2) {
		CHECK(fcntl(ends[1], SET, size * PAGE) == size * PAGE);
		CHECK(put(PAGE) == PAGE && take(100) == 100);
		while (put(100) == 100)
			;
		CHECK(fcntl(ends[1], SET, 128 * PAGE) == 128 * PAGE);
		CHECK(put(20 * PAGE) == 20 * PAGE && take(PAGE) == PAGE);
		while (take(3000) > 0)
			;
		CHECK(got == written);
	}
}

static void small_again(void)
{
	CHECK(fcntl(ends[1], SET, 16 * PAGE) == 16 * PAGE && put(5 * PAGE) == 5 * PAGE);
	CHECK(take(3 * PAGE + 5) == 3 * PAGE + 5 && fcntl(ends[1], SET, 2 * PAGE) == 2 * PAGE);
	CHECK(take(3 * PAGE) == 2 * PAGE - 5 && got == written && put(2 * PAGE) == 2 * PAGE);
	CHECK(take(2 * PAGE) == 2 * PAGE);
}

/* A larger size wakes a writer that waits for room. */
static void room_for_a_writer(void)
{
	int flags = fcntl(ends[1], F_GETFL), status;
	char c;

	CHECK(fcntl(ends[1], SET, PAGE) == PAGE && put(PAGE) == PAGE);
	CHECK(!fcntl(ends[1], F_SETFL, flags & ~O_NONBLOCK));
	if (!fork())
		_exit(write(ends[1], "x", 1) != 1);
	usleep(20000);
	CHECK(fcntl(ends[1], SET, 4 * PAGE) == 4 * PAGE);
	CHECK(wait(&status) > 0 && !status && take(PAGE) == PAGE);
	CHECK(read(ends[0], &c, 1) == 1 && c == 'x');
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	close(0);
	CHECK(open("/dev/null", O_RDONLY) == 0 && !pipe(ends));
	for (int i = 0; i < 2; i++)
		CHECK(!fcntl(ends[i], F_SETFL, O_NONBLOCK));
	sizes();
	fuller();
	shifted();
	small_again();
	room_for_a_writer();
	return check_report("pipesize");
}
