/*
 * remapped: what mremap answers where there is no room, no memory or no permission. moved.c moves pages and evicts
 * them. On Linux, too, this must report no failures.
 */
#include "check.h"
#include "lab.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define HELP "usage: remapped\n"
#define PAGE PAGE_SIZE_BYTES

enum { FAR = 0x50000000, MIB = 1 << 20 };

static sigjmp_buf after_fault;

static char *map(uint32_t pages, int flags)
{
	char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void on_fault(int signal)
{
	siglongjmp(after_fault, signal);
}

/* The signal that reading this byte causes, or 0. */
static int fault_of(const volatile char *at)
{
	int signal = sigsetjmp(after_fault, 1);

	if (!signal)
		(void)*at;
	return signal;
}

/* Two pages, and a neighbour right behind them. */
static void neighbours(int flags)
{
	char *at = map(3, flags), *moved;

	strcpy(at, "first");
	strcpy(at + 2 * PAGE, "neighbour");
	CHECK(!mprotect(at + 2 * PAGE, PAGE, PROT_READ)); /* a region of its own */
	FAILS(mremap(at, 2 * PAGE, 3 * PAGE, 0), ENOMEM);
	FAILS(mremap(at, PAGE, 2 * PAGE, 0), ENOMEM); /* its own region is the neighbour */
	FAILS(mremap(at, 3 * PAGE, 4 * PAGE, MREMAP_MAYMOVE), EFAULT); /* two regions */
	CHECK(mremap(at, 2 * PAGE, 2 * PAGE, 0) == at);
	moved = mremap(at, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED && moved != at && !strcmp(moved, "first"));
	CHECK(fault_of(at) == SIGSEGV && fault_of(at + PAGE) == SIGSEGV);
	CHECK(!strcmp(at + 2 * PAGE, "neighbour"));
	CHECK(fault_of(moved + 3 * PAGE) == (flags & MAP_SHARED ? SIGBUS : 0));
	CHECK(mremap(moved, 4 * PAGE, PAGE, 0) == moved && fault_of(moved + PAGE) == SIGSEGV);
	CHECK(mremap(moved, PAGE, 2 * PAGE, 0) == moved); /* there is room again */
	CHECK(mremap(moved, 2 * PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at + 2 * PAGE) ==
	      at + 2 * PAGE);
	CHECK(!strcmp(at + 2 * PAGE, "first")); /* it replaced the neighbour */
	CHECK(fault_of(moved) == SIGSEGV && fault_of(moved + PAGE) == SIGSEGV);
	CHECK(!munmap(at + 2 * PAGE, PAGE));
}

/* A child and its parent share what either of them moved and grew. */
static void shared(void)
{
	char *at = map(2, MAP_SHARED), *second;
	int status;

	strcpy(at, "parent");
	if (!fork()) {
		nr_failures = 0;
		at = mremap(at, 2 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, FAR);
		CHECK(at == (char *)FAR && !strcmp(at, "parent"));
		strcpy(at + PAGE, "child");
		CHECK(fault_of(at + 2 * PAGE) == SIGBUS);
		_exit(nr_failures != 0);
	}
	CHECK(wait(&status) > 0 && !status && !strcmp(at + PAGE, "child"));
	FAILS(mremap(at, 0, PAGE, 0), ENOMEM); /* a second mapping has no room here */
	second = mremap(at, 0, 2 * PAGE, MREMAP_MAYMOVE);
	CHECK(second != MAP_FAILED && second != at && !strcmp(second + PAGE, "child"));
	strcpy(second, "twice");
	CHECK(!strcmp(at, "twice") && !munmap(at, 2 * PAGE) && !strcmp(second, "twice"));
	at = mremap(second + PAGE, 0, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, FAR);
	CHECK(at == (char *)FAR && !strcmp(at, "child"));
	CHECK(!munmap(at, PAGE) && !munmap(second, 2 * PAGE));
	at = map(1, MAP_PRIVATE);
	FAILS(mremap(at, 0, PAGE, MREMAP_MAYMOVE), EINVAL);
	FAILS(mremap(at, PAGE, 0, MREMAP_MAYMOVE), EINVAL);
	FAILS(mremap(at + 1, PAGE, PAGE, MREMAP_MAYMOVE), EINVAL);
	CHECK(!munmap(at, PAGE));
}

static void holes(void)
{
	char *at = map(6, MAP_PRIVATE);

	strcpy(at + 5 * PAGE, "last");
	CHECK(!munmap(at + 2 * PAGE, PAGE));
	FAILS(mremap(at, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE), EFAULT);
	FAILS(mremap(at + 2 * PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE), EFAULT);
	FAILS(mremap(at + 2 * PAGE, PAGE, PAGE, 0), EFAULT);
	CHECK(mremap(at, 2 * PAGE, 3 * PAGE, 0) == at); /* into the hole, exactly */
	FAILS(mremap(at, 3 * PAGE, 4 * PAGE, 0), ENOMEM);
	CHECK(!strcmp(at + 5 * PAGE, "last") && !munmap(at, 6 * PAGE));
	FAILS(mremap(at, PAGE, 2 * PAGE, MREMAP_MAYMOVE), EFAULT);
}

/* Only what is added counts against the limit of the address space. */
static void little_space(void)
{
	char *at = map(16 * MIB / PAGE, MAP_PRIVATE);
	struct rlimit limit = { 32 * MIB, RLIM_INFINITY };

	strcpy(at, "space");
	CHECK(!setrlimit(RLIMIT_AS, &limit));
	FAILS(mremap(at, 16 * MIB, 48 * MIB, MREMAP_MAYMOVE), ENOMEM);
	FAILS(mremap(at, 16 * MIB, 48 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, FAR), ENOMEM);
	at = mremap(at, 16 * MIB, 24 * MIB, MREMAP_MAYMOVE);
	CHECK(at != MAP_FAILED && !strcmp(at, "space"));
	at = mremap(at, 24 * MIB, 24 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, FAR);
	CHECK(at == (char *)FAR && !strcmp(at, "space"));
	limit.rlim_cur = MIB;
	CHECK(!setrlimit(RLIMIT_AS, &limit));
	FAILS(mremap(at, PAGE, 2 * PAGE, MREMAP_MAYMOVE), ENOMEM);
	CHECK(mremap(at, 24 * MIB, PAGE, 0) == at && !strcmp(at, "space"));
	limit.rlim_cur = RLIM_INFINITY;
	CHECK(!setrlimit(RLIMIT_AS, &limit) && !munmap(at, PAGE));
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	neighbours(MAP_PRIVATE);
	neighbours(MAP_SHARED);
	shared();
	holes();
	little_space();
	return check_report("remapped");
}
