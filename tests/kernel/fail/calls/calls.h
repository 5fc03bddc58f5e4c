/* Shared by the cases of `calls`. */
#ifndef FAIL_CALLS_H
#define FAIL_CALLS_H

#include "lab.h"

#define PAGE 4096u
#define LOST 99
#define SWAPPED 80

/* The call must succeed; otherwise the program ends with its errno. */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		if ((long)(call) == -1)                                                            \
			_exit(errno);                                                              \
	} while (0)

/* Reports an error that the failing event cannot explain. */
#define HOLDS(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			printf("calls: line %d: %s (errno %d)\n", __LINE__, #what, errno);         \
			exit(LOST);                                                                \
		}                                                                                  \
	} while (0)

/* Writes all bytes; an error ends the program. */
void write_all(int fd, const char *from, size_t size);
/* Waits for a child; its failure ends the program. */
void wait_for(pid_t pid);
void fill(char *at, size_t size, int seed);
bool filled(const char *at, size_t size, int seed);
void exec_in_child(const char *path);
/* In a directory of any file system; remove_names() removes what a failed run left. */
void names(void);
void remove_names(void);

/* huge.c */
void do_huge(void);
void do_hugedirect(void);

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
