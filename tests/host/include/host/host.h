/* What only host tests may call. */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include "lib/ktap.h"
#include "types.h"
#include <setjmp.h>

extern jmp_buf *host_panic_exit; /* where panic() goes; NULL: it aborts the program */
extern char host_panic_message[256];
/* The request of that number, counted from now on, is to fail, if fail_on is set; 0: none. */
extern u32 host_fail_in;

/* Expects the statement to end in panic(), as a failed ASSERT does. */
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

/* mem_map, cleared, for this many frames, and memory behind them. Frees the former ones. */
void host_ram_create(u32 nr_frames);
void host_ram_destroy(void);

/* From now on a hook that does not return for five beats of the processor's time is a panic that
 * names it. */
void host_watch(u32 beat_ms);

/* How much a proof goes over: the number in the environment's variable, if it is there. */
u32 host_bound(const char *variable, u32 otherwise);

#endif
