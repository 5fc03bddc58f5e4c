/*
 * init: the first process. Its argument from the kernel is the value of run=: it runs that one
 * command and turns the machine off with the command's exit status. Without run=, it keeps a shell
 * on the console. It also reaps the orphans that become its children.
 */
#include "lib.h"

#define HELP                                                                                       \
	"usage: init [COMMAND]\n"                                                                  \
	"The first process, started by the kernel. With COMMAND, one word that may hold a whole\n" \
	"command line: run it and power off with its status. Otherwise: a shell on the console.\n"

/* How the commands on the standard input of `make qemu` begin to run without a terminal. */
#define SESSION "sh -v /"

/* The shell on the console, if the disk that is mounted on / has it; otherwise /bin/sh. */
#define SHELL "/bin/bash"

/*
 * Executes a plain command without a shell, so that a measured run has no process besides the
 * measured ones.
 */
static void exec_command(char *command)
{
	char *argv[256], *copy = strdup(command), *word = copy ? strtok(copy, " \t") : NULL;
	size_t argc = 0;

	for (; word && argc < ARRAY_SIZE(argv) - 1; word = strtok(NULL, " \t"))
		argv[argc++] = word;
	argv[argc] = NULL;
	if (argc && !word && !strpbrk(command, "|&;<>()$`\\\"'*?#~=\n")) {
		execvp(argv[0], argv);
		if (errno != ENOENT) {
			warn_errno(argv[0]);
			_exit(126);
		}
	}
	execl("/bin/sh", "sh", "-c", command, NULL);
	warn_errno("/bin/sh");
	_exit(127);
}

/* Creates a process group in the foreground, so that ^C reaches the program and not init. */
static void take_terminal(void)
{
	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN);
	tcsetpgrp(0, getpid());
	signal(SIGTTOU, SIG_DFL);
}

/*
 * Start @command, or a shell if it is NULL, and wait for it. Returns its wait status, or -1 if it
 * did not start.
 */
static int run(char *command)
{
	pid_t pid = fork(), gone;
	int status;

	if (pid < 0) {
		warn_errno("fork");
		return -1;
	}
	if (!pid) {
		take_terminal();
		if (command)
			exec_command(command);
		execl(SHELL, "bash", "-i", NULL);
		execl("/bin/sh", "sh", "-i", NULL);
		warn_errno("/bin/sh");
		_exit(127);
	}
	do {
		gone = wait(&status);
	} while (gone != pid && (gone > 0 || errno == EINTR));
	return gone == pid ? status : -1;
}

/*
 * Suggests a size so that four processes fit into memory and eight do not: a sixth of memory, or a
 * fifth of the remaining memory if programs and kernel take a large part of it.
 */
static void suggest(unsigned long long memory_kb, unsigned long long left_kb,
		    unsigned long long swap_kb)
{
	int kb = left_kb / 5 < memory_kb / 6 ? left_kb / 5 : memory_kb / 6;

	kb -= kb % (kb < 1024 ? 256 : 1024);

	if (!kb || swap_kb < memory_kb / 2)
		return;
	printf("\n\nTry:  time thrash 4 %d 2\t4 processes whose memory fits into the machine's\n"
	       "      time thrash 8 %d 2\t8 do not fit: compare the time, and the major faults\n"
	       "      vmstat\t\t\twhat was moved since the start (si, so); cat /proc/vmstat has more",
	       kb, kb);
}

static void print_banner(void)
{
	unsigned long long memory_kb = 0, left_kb = 0, swap_kb = 0;
	char text[2048], *on;

	printf("Tidemark");
	if (read_file("/proc/sys/vm/policy", text, sizeof(text)) > 0 && (on = strchr(text, '[')))
		printf(", policy %.*s", (int)strcspn(on + 1, "]"), on + 1);
	if (read_file("/proc/meminfo", text, sizeof(text)) > 0) {
		memory_kb = file_value(text, "MemTotal");
		left_kb = file_value(text, "MemAvailable");
		swap_kb = file_value(text, "SwapTotal");
		printf(", memory %llu kB, swap %llu kB", memory_kb, swap_kb);
	}
	suggest(memory_kb, left_kb, swap_kb);
	printf("\n\ncat /proc/sys/vm/policy: the policies that there are; echo NAME >... switches.\n"
	       "help: the shell's own commands. ls /bin: the programs, each answers --help.\n"
	       "poweroff: the end.\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int status;

	help_if_asked(argc, argv, HELP);
	if (getpid() != 1) {
		warn_user("only the kernel starts init");
		return 1;
	}
	setsid();
	setenv("PATH", "/bin", 1);
	setenv("HOME", "/", 1);
	setenv("TERM", "vt100", 0);
	if (argc > 1) {
		if (!strncmp(argv[1], SESSION, strlen(SESSION)))
			print_banner();
		status = run(argv[1]);
		power_off(status < 0 ? 1 : status_code(status));
		warn_errno("power off");
	}
	print_banner();
	for (;;) {
		run(NULL);
		/* A shell that ends at once must not become a busy loop. */
		sleep(1);
	}
}
