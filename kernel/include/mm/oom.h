/* The out-of-memory killer. */
#ifndef MM_OOM_H
#define MM_OOM_H

#include "types.h"

/*
 * Call it when nothing can be reclaimed. Kills the process with the highest badness, unless a
 * victim is already dying, and prints a message. Returns true to try again; then it has slept,
 * unless current is the victim. Returns false if there is no process left to kill.
 */
bool out_of_memory(void);

#endif
