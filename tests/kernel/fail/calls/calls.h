/* What the cases of `calls` share. */
#ifndef FAIL_CALLS_H
#define FAIL_CALLS_H

#include "lab.h"

#define PAGE 4096u
#define LOST 99
#define SWAPPED 80

/* The call succeeds, or its errno is the program's end. */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		if ((long)(call) == -1)                                                            \
			_exit(errno);                                                              \
	} while (0)

/* Something that cannot fail in this way has gone wrong. */
#define HOLDS(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			printf("calls: line %d: %s (errno %d)\n", __LINE__, #what, errno);         \
			exit(LOST);                                                                \
		}                                                                                  \
	} while (0)

/* All of it; what stops it is the program's end. */
void write_all(int fd, const char *from, size_t size);
/* A child's failure becomes the program's. */
void wait_for(pid_t pid);
void fill(char *at, size_t size, int seed);
bool filled(const char *at, size_t size, int seed);
void exec_in_child(const char *path);
/* In a directory of whatever file system; and what a run that failed has left goes. */
void names(void);
void remove_names(void);

/* disk.c */
void do_ext2(void);
void do_kept(void);
void do_mapped(void);
void do_moves(void);
void do_direct(void);
void do_swap(void);
void do_pressure(void);
void do_shmswap(void);

#endif
