/* A driver, the program that holds the student's code, and their shared memory; see driven.h. */
#define _GNU_SOURCE
#include "driven.h"
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Descriptors that the program finds open: a socket for calls and answers, and the shared memory. */
enum { CALLS = 3, MEMORY };

/* Neither a program nor the sanitizers' own memory lies at this address. */
#define SHARED_BASE ((void *)0x60000000)

struct answer {
	u64 value;
	char panic[sizeof(host_panic_message)]; /* empty: the function returned */
};

static FILE *in;
static char word[64];
static int memory;
static pid_t program;
static int to_program;

void give_up(const char *what)
{
	perror(what);
	exit(2);
}

void take_input(void)
{
	size_t size = 1u << 24, length;
	char *text = malloc(size);

	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_DUMPABLE, 0); /* no other process may read our memory or open files */
	length = text ? fread(text, 1, size, stdin) : 0;
	(void)!ftruncate(STDIN_FILENO, 0); /* a pipe is empty as it is */
	in = length ? fmemopen(text, length, "r") : NULL;
	if (!in || fscanf(in, "%63s", word) != 1)
		exit(2);
}

bool next_operation(char *what)
{
	if (fscanf(in, " %c", what) != 1)
		return false;
	printf("%s ", word);
	return true;
}

u64 number(void)
{
	unsigned long long n;

	if (fscanf(in, "%llu", &n) != 1)
		exit(2);
	return n;
}

static void *map(int file, size_t size)
{
	void *at = mmap(SHARED_BASE, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
			file, 0);

	if (at != SHARED_BASE)
		give_up("the shared memory");
	return at;
}

void *create_memory(size_t size)
{
	memory = memfd_create("shared", 0);
	if (memory < 0 || ftruncate(memory, size))
		give_up("the shared memory");
	return map(memory, size);
}

void *map_memory(size_t *size)
{
	*size = lseek(MEMORY, 0, SEEK_END);
	return map(MEMORY, *size);
}

/* Becomes the program, which has only the descriptors that it expects, and standard error for the
 * sanitizers. */
static void become_program(const char *path, int calls)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	if (dup2(memory, MEMORY) != MEMORY || dup2(calls, CALLS) != CALLS)
		give_up("the program's descriptors");
	execl(path, path, NULL);
	give_up(path);
}

void start_program(const char *driver, const char *name)
{
	char folder[4096], path[4096 + 64];
	int ends[2];

	snprintf(folder, sizeof(folder), "%s", driver);
	snprintf(path, sizeof(path), "%s/%s", dirname(folder), name);
	signal(SIGPIPE,
	       SIG_IGN); /* ask() notices the end of the program when it reads the answer */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) || (program = fork()) < 0)
		give_up("the program's process");
	if (!program)
		become_program(path, ends[1]);
	close(ends[1]);
	close(memory);
	to_program = ends[0];
}

/* The program has ended: ends the driver in the same way, by the same signal or status. */
static void end_likewise(void)
{
	int status;

	if (waitpid(program, &status, 0) < 0)
		exit(2);
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	exit(WEXITSTATUS(status));
}

u64 ask(struct call call)
{
	struct answer answer;

	if (write(to_program, &call, sizeof(call)) != sizeof(call) ||
	    read(to_program, &answer, sizeof(answer)) != sizeof(answer))
		end_likewise();
	if (answer.panic[0]) {
		printf("panic %.*s\n", (int)sizeof(answer.panic), answer.panic);
		exit(0);
	}
	return answer.value;
}

void answer_calls(u64 (*perform)(struct call call))
{
	struct call call;

	while (read(CALLS, &call, sizeof(call)) == sizeof(call)) {
		struct answer answer = { 0 };
		jmp_buf panicked;

		host_panic_exit = &panicked;
		if (setjmp(panicked))
			memcpy(answer.panic, host_panic_message, sizeof(answer.panic));
		else
			answer.value = perform(call);
		if (write(CALLS, &answer, sizeof(answer)) < 0)
			break;
	}
}
