/*
 * Functions needed by many programs, from user/lib, which every program is linked with. Include
 * this file first: it enables the GNU and Linux extensions.
 */
#ifndef USER_LIB_H
#define USER_LIB_H

#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum { TICKS_PER_SECOND = 100, PAGE_KB = 4 };

/* message.c */

/* Prints "program: message" on stderr. */
__attribute__((format(printf, 1, 2))) void warn_user(const char *format, ...);

/* Print "program: what: reason in errno" on stderr. die_errno then exits with 1. */
void warn_errno(const char *what);
__attribute__((noreturn)) void die_errno(const char *what);

/* Handle a first argument --help, which every program accepts. */
void help_if_asked(int argc, char **argv, const char *help);
__attribute__((noreturn)) void usage_error(const char *help);

/* number.c */

/* Returns true if the whole text is a decimal number. */
bool is_number(const char *text, long long *value);

/* Returns a decimal number in min..max, or prints a message and exits with 2. @what names the
 * argument. */
long long parse_number(const char *text, const char *what, long long min, long long max);

/* Converts seconds with an optional fraction, as "2" or "0.25", to milliseconds; or message and
 * exit 2. */
long parse_seconds_ms(const char *text, const char *what);

/* file.c */

/*
 * Reads a whole small file as a string, cut at size - 1. Returns its length, or -1 with errno set.
 */
int read_file(const char *path, char *buf, size_t size);

/* Returns the number after @key in a text of "key value" lines, or 0 if there is none. */
unsigned long long file_value(const char *text, const char *key);

/* signal.c */

/* Returns a signal's number from "9", "KILL" or "SIGKILL", or -1 if unknown. */
int signal_number(const char *text);

/* Converts a child's wait status to a shell's $?: the exit code, or 128 + the signal that killed
 * it. */
int status_code(int status);

/* machine.c */

void sleep_ms(long ms);

/*
 * Turn the machine off. @status, the exit status of the whole run, becomes the exit code of the
 * emulator.
 */
void power_off(int status);

#endif
