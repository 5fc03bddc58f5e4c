/*
 * For a grader's driver, which has a student's code perform operations and prints the results. It does
 * not judge them: the test's kind does (tidemark.grade.judge.driven).
 *
 * The code is untrusted. So it is another program, which gets one call at a time: it does not know the
 * later operations, and its only output is what its functions return. Both programs share a memory with
 * the data that the functions work on. Even if the code could write to the driver's output, it does not
 * know the word with which each line of the driver begins: that word is the first one of the input,
 * which is erased when it has been read.
 */
#ifndef HOST_DRIVEN_H
#define HOST_DRIVEN_H

#include "host/host.h"
#include "types.h"

/* A call of the student's code: a number that both programs know, and arguments. */
struct call {
	int what;
	u64 a, b;
};

/* Prints the reason (errno) and ends the program. */
__attribute__((noreturn)) void give_up(const char *what);

/* The driver. */
void take_input(void);
/* Reads the letter of the next operation, and begins the line of its result. Returns false at the end. */
bool next_operation(char *what);
/* Reads a number. An input without one ends the driver. */
u64 number(void);
/* Creates the shared memory and maps it, at the same address in both programs. */
void *create_memory(size_t size);
/* Starts the program, which lies beside the driver. Called once, after create_memory. */
void start_program(const char *driver, const char *program);
/* Returns the program's answer. If the code panicked, prints this and ends the driver; if the program
 * has ended, the driver ends in the same way. */
u64 ask(struct call call);

/* The student's program. */
void *map_memory(size_t *size);
/* Answers calls until the driver has ended. */
void answer_calls(u64 (*perform)(struct call call));

#endif
