/* What the parts of vfs share. */
#ifndef VFS_H
#define VFS_H

#include "lib.h"

/* Counts a check; one that failed is named by its line. */
void check(bool ok, const char *file, int line);

#define CHECK(condition) check(condition, __FILE__, __LINE__)
/* The call fails, with this error. */
#define FAILS(call, error) CHECK((call) == -1 && errno == (error))

extern int nr_failures;

int make(const char *name); /* a new file, 0644 */
struct stat info(const char *name);
int rename2(const char *from, const char *to, int flags);

extern void (*const name_tests[])(void); /* ends with NULL */
void test_locks(void);
/* Judges nothing: prints. */
void matrix(void);

#endif
