/* QEMU's clock in an exact run, at any instruction. The mode counts every instruction in counters[0]. */
#ifndef CLOCK_H
#define CLOCK_H

#include "plugin.h"

#include <string.h>

/*
 * The options main=, clock=: addresses of the kernel's kernel_main and of its variable clock_start, without
 * which clock_given returns false; faults=ADDRESS:ADDRESS...: entry points of the kernel's fault handlers.
 */
bool clock_option(const char *name, const char *value);
bool clock_given(void);

/* Call for every instruction, before the mode's own callbacks and count_insn. */
void clock_watch(struct qemu_plugin_insn *insn);

extern bool clock_started; /* kernel_main has begun */

/*
 * Return the clock in ns: since the kernel began, and as the TSC shows it. begun: 1 in the callback of an
 * access to memory, whose instruction is counted already; 0 in that of an instruction.
 */
int64_t clock_now(int begun);
uint64_t clock_tsc(int begun);

/* clock_now calls clock_is_over, which must not return, from this time on. */
extern int64_t clock_until;
extern void (*clock_is_over)(void);

#endif
