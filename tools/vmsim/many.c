/*
 * Many short strings, each from the same fresh start.
 *
 * Standard input has 32-bit numbers: for each string the number of its references, and their pages. The
 * answer is a line with the number of faults for each. Every string runs in a child, forked after the
 * policy has started, so none sees what another has left. A broken rule or a crash ends all.
 */
#include "vmsim.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_REFERENCES = 4096, STEP_NS = 100000 };

static void refer_to_all(const u32 *pages, u32 nr, u32 *faults)
{
	for (u32 i = 0; i < nr; i++)
		process_run(pages[i], 1, STEP_NS, 0);
	*faults = counts.faults;
	_exit(0);
}

void many_run(void)
{
	static u32 pages[MOST_REFERENCES];
	u32 nr, *faults;

	faults = mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (faults == MAP_FAILED) {
		perror("mmap");
		exit(EXIT_USAGE);
	}
	while (fread(&nr, sizeof(nr), 1, stdin) == 1) {
		int status = -1;
		pid_t pid;

		if (nr > MOST_REFERENCES || fread(pages, sizeof(*pages), nr, stdin) != nr) {
			fprintf(stderr, "a string is too long, or the input ends within it\n");
			exit(EXIT_USAGE);
		}
		fflush(stdout);
		pid = fork();
		if (!pid) {
			host_watch(); /* a child has no timers */
			refer_to_all(pages, nr, faults);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_VIOLATION);
		printf("%u\n", *faults);
	}
}
