/* Who called the functions of the kernel: what mode=profile asks of stacks.c. */
#ifndef STACKS_H
#define STACKS_H

#include "plugin.h"

#pragma GCC visibility push(hidden)

/* @outside: the counter of instructions that are not the kernel's. */
void stacks_init(size_t outside);
/* From @insn on, whenever it comes, function @function runs; @begins: it is its first instruction. */
void stacks_at(struct qemu_plugin_insn *insn, size_t function, bool begins);
/* A line for each stack in which instructions were executed: FUNCTION;FUNCTION;... INSTRUCTIONS */
void stacks_write(FILE *file, const char *(*name_of)(size_t function));

#pragma GCC visibility pop

#endif
