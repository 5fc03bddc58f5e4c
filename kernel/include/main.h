/* What start-up decides and other parts use: the run= command, and the ways the machine ends. */
#ifndef MAIN_H
#define MAIN_H

#include "types.h"

extern char run_command[512]; /* run=; empty on an interactive machine */

extern int power_off_status; /* the status given to power_off */

static inline bool run_mode(void)
{
	return run_command[0] != '\0';
}

/* Where the C code starts, once the boot loader's information has been saved. Does not return. */
void kernel_main(void);
/* Prints the summary of a run and ends the machine. status is the command's exit status. */
void __noreturn power_off(int status);
/* Nothing can ever run again, or something never ends: prints the reason and the tasks, then ends
 * the machine. */
void __noreturn hang(const char *why);

#endif
