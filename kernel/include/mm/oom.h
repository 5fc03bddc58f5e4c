/* The out-of-memory killer. */
#ifndef MM_OOM_H
#define MM_OOM_H

#include "types.h"

/*
 * Nothing can be reclaimed: kills the process with the highest badness, unless a victim is dying
 * already, and says so. True: try again; it has slept, unless current is the victim. False:
 * there is nobody left to kill.
 */
bool out_of_memory(void);

#endif
