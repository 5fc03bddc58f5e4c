/*
 * sleepers: NUMBER processes, each of which sleeps 100 times for 2 to 9 ms. So a timer interrupt finds the machine idle,
 * or a program running, many thousand times a second.
 */
#include "check.h"
#include "lab.h"

#define HELP "usage: sleepers NUMBER\n"

enum { TIMES = 100, MS = 1000000 };

static void sleep_often(int nr)
{
	struct timespec pause = { .tv_nsec = (2 + nr % 8) * MS };

	for (int n = 0; n < TIMES; n++)
		nanosleep(&pause, NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	int nr, status, nr_good = 0;

	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 1, 1, HELP);
	nr = atoi(argv[1]);
	for (int n = 0; n < nr; n++)
		if (!fork())
			sleep_often(n);
	while (wait(&status) > 0)
		nr_good += !status;
	CHECK(nr_good == nr);
	return check_report("sleepers");
}
