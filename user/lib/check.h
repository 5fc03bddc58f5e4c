/*
 * What the conformance programs share: checks that are counted, and the line of the result. Linux is
 * the oracle: there the same program must report no failures.
 */
#ifndef USER_CHECK_H
#define USER_CHECK_H

#include "lib.h"

extern int nr_checks, nr_failures;

/* Counts a check; one that failed is named by its line, with what was checked. */
void check(bool ok, const char *file, int line, const char *text);

#define CHECK(condition) check(condition, __FILE__, __LINE__, #condition)
/* The call fails, with this error. */
#define FAILS(call, error)                                                                         \
	check((long)(call) == -1 && errno == (error), __FILE__, __LINE__, #call ": " #error)

/* Prints the result; the exit status. */
int check_report(const char *program);

#endif
