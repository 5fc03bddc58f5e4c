/*
 * Pages of 4 MiB: what they hold, what is refused, and how much memory they take. A block may be missing
 * anywhere: in mmap, and in fork.
 */
#define _GNU_SOURCE
#include "calls.h"

#include <fcntl.h>
#include <sys/mman.h>

#ifndef MAP_HUGETLB
#define MAP_HUGETLB 0x40000
#endif
#define HUGE (4u << 20)
#define HUGE_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB)
#define BOTH (PROT_READ | PROT_WRITE)
/* The call must return EINVAL; without a frame for shared memory it cannot get so far. */
#define REFUSED(call)                                                                              \
	do {                                                                                       \
		HOLDS((long)(call) == -1 && (errno == EINVAL || errno == ENOMEM));                 \
		if (errno == ENOMEM)                                                               \
			_exit(errno);                                                              \
	} while (0)

/* The value of a line of /proc/meminfo, in KiB. */
static long meminfo(const char *name)
{
	char text[2000], *at;
	int fd;

	TRY(fd = open("/proc/meminfo", O_RDONLY));
	memset(text, 0, sizeof(text));
	TRY(read(fd, text, sizeof(text) - 1));
	close(fd);
	HOLDS(at = strstr(text, name));
	return atol(at + strlen(name));
}

/* Every request that must change nothing. */
static void refusals(char *at)
{
	REFUSED(munmap(at, PAGE));
	REFUSED(munmap(at + PAGE, HUGE));
	REFUSED(mprotect(at, PAGE, PROT_READ));
	REFUSED(mlock(at + PAGE, PAGE));
	REFUSED(mremap(at, HUGE, 3 * HUGE, MREMAP_MAYMOVE));
	REFUSED(mremap(at, 2 * HUGE, HUGE, 0));
	REFUSED(madvise(at, HUGE, MADV_DONTNEED));
	REFUSED(mmap(at + PAGE, PAGE, BOTH, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	REFUSED(mmap(at + PAGE, HUGE, BOTH, HUGE_FLAGS | MAP_FIXED, -1, 0));
	REFUSED(mmap(NULL, HUGE, BOTH, HUGE_FLAGS | MAP_GROWSDOWN, -1, 0));
	REFUSED(mmap(NULL, HUGE, BOTH, (HUGE_FLAGS & ~MAP_PRIVATE) | MAP_SHARED, -1, 0));
	REFUSED(mmap(NULL, HUGE, BOTH, HUGE_FLAGS | 21 << 26, -1, 0));
}

/* A child changes its copy; the parent's stays. */
static void fork_copies(char *at)
{
	pid_t pid;

	TRY(pid = fork());
	if (!pid) {
		HOLDS(filled(at, PAGE, 21) && filled(at + 2 * HUGE - PAGE, PAGE, 22));
		fill(at, PAGE, 23);
		_exit(0);
	}
	wait_for(pid);
	HOLDS(filled(at, PAGE, 21) && meminfo("Hugetlb:") == 2 * HUGE / 1024);
}

/* Returns the signal that an access ends with, in a child. */
static int signal_of(char *at, bool write)
{
	int status;
	pid_t pid;

	TRY(pid = fork());
	if (!pid) {
		if (write)
			*at = 1;
		_exit(*(volatile char *)at & 0);
	}
	HOLDS(waitpid(pid, &status, 0) == pid);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) /* for want of a frame */
		_exit(status_code(status));
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void rights(char *at)
{
	int got;

	TRY(mprotect(at, HUGE, PROT_READ));
	got = signal_of(at, true);
	HOLDS(got == SIGSEGV && !signal_of(at, false));
	TRY(mprotect(at, HUGE, PROT_NONE));
	HOLDS(signal_of(at, false) == SIGSEGV);
	TRY(mprotect(at, HUGE, BOTH));
	HOLDS(filled(at, PAGE, 21));
	at[PAGE] = 1;
}

/* The kernel copies from and to a huge page, and mincore and mlock know it. */
static void used_by_the_kernel(char *at)
{
	unsigned char there[1024];
	int end[2];

	TRY(pipe(end));
	TRY(write(end[1], at, 100));
	TRY(read(end[0], at + HUGE - 50, 100));
	HOLDS(!memcmp(at, at + HUGE - 50, 100));
	close(end[0]);
	close(end[1]);
	HOLDS(!mincore(at, HUGE, there));
	for (int i = 0; i < 1024; i++)
		HOLDS(there[i] & 1);
	TRY(mlock(at, 2 * HUGE));
	TRY(munlock(at, 2 * HUGE));
}

/* The disk reads and writes huge pages directly, also across two of them. */
void do_hugedirect(void)
{
	char *at;
	int fd;

	TRY(fd = open("/dev/sda", O_RDWR | O_DIRECT));
	TRY((long)(at = mmap(NULL, 2 * HUGE, BOTH, HUGE_FLAGS, -1, 0)));
	fill(at + HUGE - PAGE, 2 * PAGE, 31);
	HOLDS(pwrite(fd, at + HUGE - PAGE, 2 * PAGE, PAGE) == 2 * PAGE);
	HOLDS(pread(fd, at + 3 * PAGE, 2 * PAGE, PAGE) == 2 * PAGE);
	HOLDS(filled(at + 3 * PAGE, 2 * PAGE, 31));
	TRY(mprotect(at, HUGE, PROT_READ));
	HOLDS(pread(fd, at, PAGE, 0) == -1 && errno == EFAULT);
	TRY(munmap(at, 2 * HUGE));
}

void do_huge(void)
{
	char *at, *low;

	HOLDS(!meminfo("Hugetlb:"));
	TRY((long)(at = mmap(NULL, HUGE + 1, BOTH, HUGE_FLAGS, -1, 0)));
	HOLDS(!((unsigned long)at % HUGE) && meminfo("Hugetlb:") == 2 * HUGE / 1024);
	for (char *p = at; p < at + 2 * HUGE; p += PAGE)
		HOLDS(!*p);
	fill(at, PAGE, 21);
	fill(at + 2 * HUGE - PAGE, PAGE, 22);
	refusals(at);
	fork_copies(at);
	rights(at);
	used_by_the_kernel(at);
	HOLDS(filled(at, PAGE, 21) && filled(at + 2 * HUGE - PAGE, PAGE, 22));
	TRY(munmap(at + HUGE, HUGE));
	HOLDS(meminfo("Hugetlb:") == HUGE / 1024);
	TRY((long)(low = mmap(at + HUGE, PAGE, BOTH, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			      0)));
	*low = 1;
	TRY((long)(low = mmap(at + HUGE, HUGE, PROT_READ, HUGE_FLAGS | MAP_FIXED, -1, 0)));
	HOLDS(low == at + HUGE && !*low && filled(at, PAGE, 21));
	TRY(munmap(at, 2 * HUGE));
	HOLDS(!meminfo("Hugetlb:"));
	TRY((long)(at = mmap(NULL, HUGE, BOTH, HUGE_FLAGS, -1, 0))); /* for exit */
	*at = 1;
}
