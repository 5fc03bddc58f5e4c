/*
 * Shared by the conformance programs: counted checks, and the result line. Linux is the oracle:
 * there the same program must report no failures.
 */
#ifndef USER_CHECK_H
#define USER_CHECK_H

#include "lib.h"

extern int nr_checks, nr_failures;

/* Counts a check. If it fails, prints its line and its text. */
void check(bool ok, const char *file, int line, const char *text);

#define CHECK(condition) check(condition, __FILE__, __LINE__, #condition)
/* The call must fail with this error. */
#define FAILS(call, error)                                                                         \
	check((long)(call) == -1 && errno == (error), __FILE__, __LINE__, #call ": " #error)

/* Prints the result. Returns the exit status. */
int check_report(const char *program);

#endif
