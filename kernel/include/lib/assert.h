/* Invariants. ASSERT is cheap and has no side effects. panic is for unrecoverable errors. */
#ifndef LIB_ASSERT_H
#define LIB_ASSERT_H

#include "types.h"

/* Prints the message, registers and a backtrace, and ends the machine with EXIT_PANIC. */
void __noreturn panic(const char *fmt, ...) __printf(1, 2);

#define ASSERT(cond)                                                                               \
	do {                                                                                       \
		if (unlikely(!(cond)))                                                             \
			panic("%s:%d: assertion failed: %s", __FILE__, __LINE__, #cond);           \
	} while (0)

#endif
