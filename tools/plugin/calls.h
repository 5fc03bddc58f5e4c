/* Functions of the kernel that a mode watches by name: calls.c. */
#ifndef CALLS_H
#define CALLS_H

#include "plugin.h"

/* Called when the function begins, and when it returns; NULL: not. data is the name. */
struct call {
	const char *name;
	exec_callback *begins, *returns;
};

/* Reads the symbols of the kernel from a file of `nm -n`. Fails if it lacks one of the functions. */
void calls_find(const struct call *calls, size_t nr, const char *symbols_name);

/* Registers the callbacks of an instruction with which a watched function begins or returns. */
void calls_watch(struct qemu_plugin_insn *insn);

/* Is this the name of the function, or of one of the compiler's copies, such as f.part.0? */
bool calls_is_of(const char *name, const char *function);

#endif
