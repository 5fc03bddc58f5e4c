/* Shared by the parts of vfs. */
#ifndef VFS_H
#define VFS_H

#include "check.h"

int make(const char *name); /* creates a new file, 0644 */
struct stat info(const char *name);
int rename2(const char *from, const char *to, int flags);

extern void (*const name_tests[])(void); /* ends with NULL */
void test_locks(void);
/* Prints the result of renaming every kind of file onto every other. Checks nothing. */
void matrix(void);

#endif
