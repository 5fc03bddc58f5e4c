/* The end of a run, after a broken rule: the page sees a trap. */
#ifndef STEP_UNISTD_H
#define STEP_UNISTD_H

#define _exit(status) __builtin_trap()

#endif
