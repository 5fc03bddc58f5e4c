/* The call tree of the kernel: interface of stacks.c for mode=profile. */
#ifndef STACKS_H
#define STACKS_H

#include "plugin.h"

#pragma GCC visibility push(hidden)

/* @outside: the counter of instructions outside the kernel. */
void stacks_init(size_t outside);
/* Whenever @insn is executed, function @function runs from there on; @begins: it is its first instruction. */
void stacks_at(struct qemu_plugin_insn *insn, size_t function, bool begins);
/* Writes a line for each stack in which instructions were executed: FUNCTION;FUNCTION;... INSTRUCTIONS */
void stacks_write(FILE *file, const char *(*name_of)(size_t function));

#pragma GCC visibility pop

#endif
