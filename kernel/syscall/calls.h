/*
 * The prototypes of the system calls, generated from list.h: the compiler compares each definition
 * with its line there, and warns of a sys_ function without a line.
 *
 * The trap entry does not know signatures. A program passes six words in registers, and every
 * function is called with all six, whatever it takes (table.c). That is correct if each parameter
 * is one word: under the kernel's calling convention (gcc's -mregparm=3) the first three one-word
 * arguments are in eax, edx and ecx and the others on the stack, and the caller removes them again.
 * So a function finds its own arguments in the expected places and ignores the rest. A parameter of
 * eight bytes would take two places, and a narrow one would rely on the program for its upper bits;
 * neither compiles here. A 64-bit value of a program is passed as two parameters.
 */
#ifndef SYSCALL_CALLS_H
#define SYSCALL_CALLS_H

#include "types.h"

struct iovec32;
struct pollfd;
struct user_desc;

#define WORD(parameter) STATIC_ASSERT(sizeof(struct { parameter; }) == sizeof(u32));
#define WORDS1(p) WORD(p)
#define WORDS2(p, ...) WORD(p) WORDS1(__VA_ARGS__)
#define WORDS3(p, ...) WORD(p) WORDS2(__VA_ARGS__)
#define WORDS4(p, ...) WORD(p) WORDS3(__VA_ARGS__)
#define WORDS5(p, ...) WORD(p) WORDS4(__VA_ARGS__)
#define WORDS6(p, ...) WORD(p) WORDS5(__VA_ARGS__)
#define SEVENTH(p1, p2, p3, p4, p5, p6, chosen, ...) chosen
#define WORDS(...) SEVENTH(__VA_ARGS__, WORDS6, WORDS5, WORDS4, WORDS3, WORDS2, WORDS1)(__VA_ARGS__)

#define SYSCALL(nr, name, ...)                                                                     \
	WORDS(__VA_ARGS__)                                                                         \
	long sys_##name(__VA_ARGS__);
#define SYSCALL0(nr, name) long sys_##name(void);
#define SAME(nr, name, other)
#define NONE(nr, name)
#include "list.h"
#undef SYSCALL
#undef SYSCALL0
#undef SAME
#undef NONE

#endif
