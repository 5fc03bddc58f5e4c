/*
 * straddle: a system call that needs two pages at once, for a word that lies on both, while one frame
 * is left for them. It cannot finish, but other processes must make progress, and SIGKILL must end it.
 */
#include "lab.h"
#include <sys/mman.h>

#define HELP                                                                                       \
	"usage: straddle\nRead a word that lies on two pages while all memory but one page is locked.\n"

enum { PAGE = PAGE_SIZE_BYTES, LOOK_MS = 200 };

static volatile uint32_t *locked; /* number of pages locked by the child so far */

/* Locks page after page; reads the word before each. */
static __attribute__((noreturn)) void lock_more(char *two, const int *pipe)
{
	char word[4];

	mlockall(MCL_CURRENT);
	munlock(two, 2 * PAGE);
	for (;; ++*locked) {
		write(pipe[1], two + PAGE - 1, sizeof(word));
		read(pipe[0], word, sizeof(word));
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED,
		     -1, 0);
	}
}

int main(int argc, char **argv)
{
	uint32_t seen = 0;
	int ends[2], status;
	char *two;
	pid_t pid;

	help_if_asked(argc, argv, HELP);
	two = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	locked = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (two == MAP_FAILED || locked == MAP_FAILED || pipe(ends))
		die_errno("straddle");
	memset(two, 'x', 2 * PAGE);
	pid = fork();
	if (!pid)
		lock_more(two, ends);
	mlockall(MCL_CURRENT);
	do {
		seen = *locked;
		sleep_ms(LOOK_MS);
	} while (*locked != seen);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	printf("R straddle locked=%u status=%d\n", seen, status);
	return 0;
}
