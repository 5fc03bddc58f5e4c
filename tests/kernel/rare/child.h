/* For programs that make checks in a child, because these change the process for good. */
#ifndef RARE_CHILD_H
#define RARE_CHILD_H

#include "check.h"
#include <sys/wait.h>

/* Makes the checks in a child; a failure there is a failure here, too. */
static inline void in_child(void (*checks)(void))
{
	int status = 0, pid = fork();

	if (!pid) {
		nr_failures = 0;
		checks();
		_exit(nr_failures != 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

#endif
