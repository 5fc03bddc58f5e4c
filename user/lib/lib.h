/*
 * Helpers that several user programs need. Every program is one source file linked alone against
 * the C library, so they are static inline and live here. Include this file first: it asks for the
 * GNU and Linux extensions.
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

/* "program: message" on stderr. */
__attribute__((format(printf, 1, 2))) static inline void warn_user(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	va_start(args, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

/* "program: what: reason in errno" on stderr. */
static inline void warn_errno(const char *what)
{
	warn_user("%s: %s", what, strerror(errno));
}

__attribute__((noreturn)) static inline void die_errno(const char *what)
{
	warn_errno(what);
	exit(1);
}

/* Answer a first argument --help, which every program understands. */
static inline void help_if_asked(int argc, char **argv, const char *help)
{
	if (argc < 2 || strcmp(argv[1], "--help"))
		return;
	fputs(help, stdout);
	exit(0);
}

__attribute__((noreturn)) static inline void usage_error(const char *help)
{
	fputs(help, stderr);
	exit(2);
}

/* A decimal number in min..max, or a message and exit 2. @what names the argument. */
static inline long long parse_number(const char *text, const char *what, long long min,
				     long long max)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < min || value > max) {
		warn_user("%s: '%s' is not a number from %lld to %lld", what, text, min, max);
		exit(2);
	}
	return value;
}

/* Seconds with an optional fraction, as "2" or "0.25", in milliseconds; or a message and exit 2. */
static inline long parse_seconds_ms(const char *text, const char *what)
{
	char whole[16], *point;
	long ms = 0;

	snprintf(whole, sizeof(whole), "%s", text);
	point = strchr(whole, '.');
	if (point) {
		*point++ = '\0';
		for (int digit = 100; digit && *point; digit /= 10, point++)
			ms += digit * parse_number((char[]){ *point, '\0' }, what, 0, 9);
	}
	return ms + 1000 * parse_number(whole[0] ? whole : "0", what, 0, 1000000);
}

static inline void sleep_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/*
 * The whole of a small file as a string, cut at size - 1. Returns its length, or -1 with errno set.
 */
static inline int read_file(const char *path, char *buf, size_t size)
{
	size_t used = 0;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return -1;
	while (used < size - 1 && (n = read(fd, buf + used, size - 1 - used)) > 0)
		used += n;
	close(fd);
	buf[used] = '\0';
	return n < 0 ? -1 : (int)used;
}

/* The number after @key in a file of "key value" lines; 0 when it is not there. */
static inline unsigned long long file_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (text) {
		if (!strncmp(text, key, len) &&
		    (isspace((unsigned char)text[len]) || text[len] == ':'))
			return strtoull(text + len + (text[len] == ':'), NULL, 10);
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return 0;
}

/* Processor time since boot in ticks, as the first line of /proc/stat tells it. */
struct cpu_times {
	unsigned long long user, nice, system, idle, iowait;
};

static inline struct cpu_times cpu_times_parse(const char *stat)
{
	struct cpu_times t = { 0 };

	sscanf(stat, "cpu %llu %llu %llu %llu %llu", &t.user, &t.nice, &t.system, &t.idle,
	       &t.iowait);
	return t;
}

static inline unsigned long long cpu_times_total(const struct cpu_times *t)
{
	return t->user + t->nice + t->system + t->idle + t->iowait;
}

/* One process as /proc/<pid>/stat tells it. */
struct process {
	int pid, ppid, nice;
	char state, name[32];
	unsigned long minflt, majflt, utime, stime, vsize;
	long rss;
};

/* False when the process has gone meanwhile. */
static inline bool process_read(int pid, struct process *p)
{
	char path[32], text[512], *name, *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_file(path, text, sizeof(text)) <= 0)
		return false;
	/* The name may hold blanks and brackets itself: it ends at the last ')'. */
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || end < name)
		return false;
	*end = '\0';
	p->pid = pid;
	snprintf(p->name, sizeof(p->name), "%s", name + 1);
	return sscanf(end + 1,
		      " %c %d %*s %*s %*s %*s %*s %lu %*s %lu %*s %lu %lu %*s %*s %*s %d %*s %*s "
		      "%*s %lu %ld",
		      &p->state, &p->ppid, &p->minflt, &p->majflt, &p->utime, &p->stime, &p->nice,
		      &p->vsize, &p->rss) == 9;
}

/* Fill @list with up to @max processes in the order of /proc. Returns how many. */
static inline int process_list(struct process *list, int max)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int nr = 0;

	if (!dir)
		die_errno("/proc");
	while (nr < max && (entry = readdir(dir))) {
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    process_read(atoi(entry->d_name), &list[nr]))
			nr++;
	}
	closedir(dir);
	return nr;
}

/* A signal's number from "9", "KILL" or "SIGKILL"; -1 for an unknown one. */
static inline int signal_number(const char *text)
{
	static const struct {
		const char *name;
		int number;
	} names[] = {
		{ "HUP", SIGHUP },   { "INT", SIGINT },   { "QUIT", SIGQUIT }, { "ILL", SIGILL },
		{ "TRAP", SIGTRAP }, { "ABRT", SIGABRT }, { "BUS", SIGBUS },   { "FPE", SIGFPE },
		{ "KILL", SIGKILL }, { "USR1", SIGUSR1 }, { "SEGV", SIGSEGV }, { "USR2", SIGUSR2 },
		{ "PIPE", SIGPIPE }, { "ALRM", SIGALRM }, { "TERM", SIGTERM }, { "CHLD", SIGCHLD },
		{ "CONT", SIGCONT }, { "STOP", SIGSTOP },
	};
	char *end;
	long number = strtol(text, &end, 10);

	if (end != text)
		return !*end && number >= 0 && number < NSIG ? (int)number : -1;
	if (!strncmp(text, "SIG", 3))
		text += 3;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(text, names[i].name))
			return names[i].number;
	}
	return -1;
}

/* A child's wait status as a shell's $?: the exit code, or 128 + the signal that killed it. */
static inline int status_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * Turn the machine off. The kernel reads @status, the exit status of the whole run, from the
 * argument that Linux uses for a command string: it ends up as the exit code of the emulator.
 */
static inline void power_off(int status)
{
	syscall(SYS_reboot, 0xfee1dead, 672274793, 0x4321fedc, status);
}

#endif
