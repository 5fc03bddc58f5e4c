/*
 * lockedinit: init for these tests. It locks its memory, so that no page of it is the policy's, runs
 * the command, which is a program's name, and turns the machine off with the program's status.
 */
#include "lib.h"
#include <sys/mman.h>

int main(int argc, char **argv)
{
	int status = 0;
	pid_t pid;

	if (argc != 2 || mlockall(MCL_CURRENT | MCL_FUTURE))
		power_off(1);
	pid = fork();
	if (!pid) {
		execl(argv[1], argv[1], NULL);
		_exit(127);
	}
	while (wait(&status) != pid)
		;
	power_off(status_code(status));
	return 1;
}
