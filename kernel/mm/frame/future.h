/* Where the future lies, for bootmem.c. */
#ifndef MM_FRAME_FUTURE_H
#define MM_FRAME_FUTURE_H

#include "types.h"

extern u64 future_at; /* physical address; 0: none */

/* Returns the physical address of the end of the future, 0 if there is none. Refuses to boot with one that does not lie
 * above mem_limit, is not valid, or was not recorded for this command. */
u32 future_check(u64 mem_limit, const char *run);

#endif
