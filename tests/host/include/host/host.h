/* Functions that only host tests may call. */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include "lib/ktap.h"
#include "types.h"
#include <setjmp.h>

extern jmp_buf *host_panic_exit; /* the target of panic(); NULL: it aborts the program */
extern char host_panic_message[256];
/* The request with this number, counted from now on, fails; 0: none. */
extern u32 host_fail_in;

/* Expects the statement to end in panic(), like a failed ASSERT. */
#define EXPECT_PANIC(statement)                                                                    \
	do {                                                                                       \
		jmp_buf exit_;                                                                     \
		host_panic_exit = &exit_;                                                          \
		if (!setjmp(exit_)) {                                                              \
			statement;                                                                 \
			ktap_fail(__FILE__, __LINE__, "a panic from: " #statement);                \
		}                                                                                  \
		host_panic_exit = NULL;                                                            \
	} while (0)

/* Creates mem_map, cleared, for this many frames, with their memory. Frees the previous ones. */
void host_ram_create(u32 nr_frames);
void host_ram_destroy(void);

/* From now on, a hook that does not return for five ticks of processor time causes a panic that
 * names it. */
void host_watch(u32 beat_ms);

/* The bound of a proof: the number in the environment's variable, or the default. */
u32 host_bound(const char *variable, u32 otherwise);

#endif
