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

/* Call when a fault of current finds no frame. Returns false if current is not init. Init cannot be
 * killed: it waits until memory is freed, and the access is retried. After one second without
 * memory the machine ends with status 1. */
bool init_lacks_memory(void);

#endif
