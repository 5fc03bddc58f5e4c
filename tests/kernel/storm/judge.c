/*
 * The same calls on Linux: only those that change nothing, made one after another by one process, with each answer.
 * The seed alone determines the calls and their arguments, so both kernels can be compared line by line.
 */
#include "storm.h"

static const char *const harmless[] = {
	"access",        "faccessat",     "faccessat2",      "stat64",
	"lstat64",       "fstat64",       "fstatat64",       "statx",
	"readlink",      "readlinkat",    "lseek",           "_llseek",
	"getcwd",        "uname",         "sysinfo",         "times",
	"time",          "getrusage",     "getitimer",       "gettimeofday",
	"clock_gettime", "clock_getres",  "clock_gettime64", "clock_getres_time64",
	"getpriority",   "rt_sigpending", "rt_sigprocmask",  "statfs",
	"statfs64",      "fstatfs",       "fstatfs64",       "getrlimit",
	"ugetrlimit",    "getpgid",       "getdents64",
};

static bool is_harmless(const struct kind *kind)
{
	for (size_t n = 0; n < ARRAY_SIZE(harmless); n++)
		if (!strcmp(kind->name, harmless[n]))
			return true;
	return false;
}

static __attribute__((noreturn)) void make_calls(uint32_t nr)
{
	uint32_t args[NR_ARGS];

	args_prepare(0);
	/* Standard input is a terminal: on Linux only root may open the console. */
	place_enter(0, dup2(0, CONSOLE_FD));
	for (uint32_t i = 0; i < nr; i++) {
		const struct kind *kind = draw_kind(i);
		long ret;

		if (!is_harmless(kind))
			continue;
		memset(args, 0, sizeof(args));
		draw_args(kind, args);
		ret = system_call(kind->number, args);
		board->judged[i] = ret < 0 && ret >= -NR_ERRORS ? 1 - ret : 1;
	}
	_exit(0);
}

void judge(uint32_t nr)
{
	int status;
	pid_t pid;

	place_make(0);
	pid = fork();
	if (!pid)
		make_calls(nr);
	waitpid(pid, &status, 0);
	for (uint32_t i = 0; i < nr; i++) {
		const struct kind *kind = draw_kind(i);

		uint32_t args[NR_ARGS] = { 0 };

		if (!board->judged[i])
			continue;
		draw_args(kind, args);
		printf("judge: %u %s %d (%#x, %#x, %#x, %#x, %#x)\n", i, kind->name,
		       board->judged[i] - 1, args[0], args[1], args[2], args[3], args[4]);
	}
	printf("R judge status=%d\n", status);
}
