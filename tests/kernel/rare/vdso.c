/*
 * vdso: the kernel's library in each program. Finds it as a C library does, by AT_SYSINFO_EHDR, its symbol table and
 * the symbols' versions; compares its clocks with the system calls; and unmaps it, writes to it and forks, as with
 * other memory. On Linux, too, this must report no failures. With READINGS it only reads the TSC READINGS times, by the
 * library's read_cycles, and prints a number that depends on each reading.
 */
#include "check.h"
#include "lab.h"
#include <elf.h>
#include <sys/mman.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <sys/uio.h>

#define HELP "usage: vdso [READINGS]\n"

enum {
	READ_CYCLES = 13 /* as in kernel/include/arch/vdso.h */,
	GETTIMEOFDAY = 78,
	READS = 3000,
	SLEEPS = 40,
	KERNEL = 0xC0100000,
	PAGE = PAGE_SIZE_BYTES
};

typedef int gettime(unsigned clock, void *ts);

static struct {
	gettime *clock_gettime, *clock_gettime64;
	int (*gettimeofday)(void *tv, void *tz);
	long (*time)(long *sec);
	void *vsyscall;
} vdso;

static const char *image;
static uintptr_t clock_page, clock_end, library_end;

/* Makes a system call by int $0x80, since the C library may use the vDSO. */
static long call(long nr, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

static const Elf32_Word *dynamic(int tag)
{
	const Elf32_Ehdr *h = (const Elf32_Ehdr *)image;
	const Elf32_Phdr *p = (const Elf32_Phdr *)(image + h->e_phoff);
	const Elf32_Dyn *d;

	while (p->p_type != PT_DYNAMIC)
		p++;
	for (d = (const Elf32_Dyn *)(image + p->p_vaddr); d->d_tag; d++)
		if (d->d_tag == tag)
			return (const Elf32_Word *)(image + d->d_un.d_ptr);
	return NULL;
}

static bool version_is(unsigned index, const char *version)
{
	const Elf32_Verdef *v = (const Elf32_Verdef *)dynamic(DT_VERDEF);
	const char *strings = (const char *)dynamic(DT_STRTAB);

	while (v->vd_ndx != (index & 0x7fff)) {
		if (!v->vd_next)
			return false;
		v = (const Elf32_Verdef *)((const char *)v + v->vd_next);
	}
	return !strcmp(strings + ((const Elf32_Verdaux *)((const char *)v + v->vd_aux))->vda_name,
		       version);
}

static unsigned hash_of(const char *name)
{
	unsigned h = 0;

	for (; *name; name++) {
		h = (h << 4) + (unsigned char)*name;
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	return h;
}

/* Looks a symbol up in the hash table, as a dynamic linker does. */
static void *symbol(const char *name, const char *version)
{
	const Elf32_Word *hash = dynamic(DT_HASH), *bucket = hash + 2, *chain = bucket + hash[0];
	const Elf32_Sym *symbols = (const Elf32_Sym *)dynamic(DT_SYMTAB);
	const Elf32_Half *versions = (const Elf32_Half *)dynamic(DT_VERSYM);
	const char *strings = (const char *)dynamic(DT_STRTAB);

	for (unsigned i = bucket[hash_of(name) % hash[0]]; i; i = chain[i])
		if (!strcmp(strings + symbols[i].st_name, name) && version_is(versions[i], version))
			return (void *)(image + symbols[i].st_value);
	return NULL;
}

static void find(void)
{
	image = (const char *)getauxval(AT_SYSINFO_EHDR);
	CHECK(image && !memcmp(image, ELFMAG, SELFMAG));
	vdso.clock_gettime = symbol("__vdso_clock_gettime", "LINUX_2.6");
	vdso.clock_gettime64 = symbol("__vdso_clock_gettime64", "LINUX_2.6");
	vdso.gettimeofday = symbol("__vdso_gettimeofday", "LINUX_2.6");
	vdso.time = symbol("__vdso_time", "LINUX_2.6");
	vdso.vsyscall = symbol("__kernel_vsyscall", "LINUX_2.5");
	CHECK(vdso.clock_gettime && vdso.clock_gettime64 && vdso.gettimeofday && vdso.time);
	CHECK(vdso.vsyscall && (unsigned long)vdso.vsyscall == getauxval(AT_SYSINFO));
	CHECK(!symbol("__vdso_clock_gettime", "LINUX_2.5") && !symbol("read_cycles", "LINUX_2.6"));
}

static long long ns_of(const long long ts[2])
{
	return ts[0] * 1000000000 + ts[1];
}

/* Reads the clock in every way, one after the other: it must never go back. *most: the longest time
 * between two readings. */
static long long read_in_turn(unsigned clock, long long before, long long *most)
{
	long long ts[2], now;
	int narrow[2];

	CHECK(!vdso.clock_gettime64(clock, ts) && ns_of(ts) >= before);
	*most = ns_of(ts) - before;
	before = ns_of(ts);
	CHECK(!call(SYS_clock_gettime64, clock, (long)ts, 0) && ns_of(ts) >= before);
	*most = ns_of(ts) - before > *most ? ns_of(ts) - before : *most;
	before = ns_of(ts);
	CHECK(!vdso.clock_gettime(clock, narrow));
	now = narrow[0] * 1000000000ll + narrow[1];
	CHECK(now >= before && narrow[1] >= 0 && narrow[1] < 1000000000);
	*most = now - before > *most ? now - before : *most;
	return now;
}

static void test_clock(unsigned clock)
{
	long long at = 0, most, ordinary = 0;

	for (unsigned n = 0; n < READS; n++) {
		at = read_in_turn(clock, at, &most);
		ordinary = n == 1 || (n > 1 && most < ordinary) ? most : ordinary;
	}
	CHECK(ordinary < 100000); /* the others may have been interrupted for long */
	for (unsigned n = 0; n < SLEEPS; n++) {
		struct timespec pause = { .tv_nsec = 37000000 };

		nanosleep(&pause, NULL);
		at = read_in_turn(clock, at, &most);
		CHECK(most >= 37000000 || n == 0);
	}
}

static void test_other_clocks(void)
{
	static const unsigned unknown[] = { 12, 31, 32, 33, 64, 1000, 0x7fffffff, 0x80000001 };
	long long ts[2] = { -1, -1 }, own[2];

	for (size_t n = 0; n < ARRAY_SIZE(unknown); n++) {
		CHECK(vdso.clock_gettime64(unknown[n], ts) ==
		      call(SYS_clock_gettime64, unknown[n], (long)ts, 0));
		CHECK(vdso.clock_gettime(unknown[n], ts) == -EINVAL && ts[0] == -1 && ts[1] == -1);
	}
	CHECK(vdso.clock_gettime(12, NULL) == -EINVAL); /* the system call checks the clock first */
	CHECK(!vdso.clock_gettime64(CLOCK_PROCESS_CPUTIME_ID, ts));
	CHECK(!call(SYS_clock_gettime64, CLOCK_PROCESS_CPUTIME_ID, (long)own, 0));
	CHECK(ns_of(ts) > 0 && ns_of(own) >= ns_of(ts));
}

static void test_time_of_day(void)
{
	long tv[2], again[2], zone[2] = { 7, 7 }, sec, stored = 0;

	CHECK(!vdso.gettimeofday(tv, NULL) && !call(GETTIMEOFDAY, (long)again, 0, 0));
	CHECK(tv[0] < again[0] || (tv[0] == again[0] && tv[1] <= again[1]));
	CHECK(tv[1] >= 0 && tv[1] < 1000000 && again[0] - tv[0] <= 1);
	CHECK(!vdso.gettimeofday(NULL, zone) && !vdso.gettimeofday(NULL, NULL) && !zone[0] &&
	      !zone[1]);
	sec = vdso.time(&stored);
	CHECK(sec == stored && call(SYS_time, 0, 0, 0) - sec <= 1 && vdso.time(NULL) - sec <= 1);
}

/* Runs a function in a child. Returns its status. */
static int in_child(void (*run)(void *), void *arg)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		run(arg);
		call(SYS_exit, 0, 0, 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

static void read_to(void *where)
{
	vdso.clock_gettime64(CLOCK_MONOTONIC, where);
}

static void tell_time_to(void *where)
{
	vdso.time(where);
	vdso.gettimeofday(where, NULL);
}

static void test_bad_pointers(void)
{
	static const uintptr_t wrong[] = { 0, 4, KERNEL, 0xfffffff8 };

	for (size_t n = 0; n < ARRAY_SIZE(wrong); n++) {
		CHECK(in_child(read_to, (void *)wrong[n]) == SIGSEGV);
		CHECK(!wrong[n] || in_child(tell_time_to, (void *)wrong[n]) == SIGSEGV);
	}
	CHECK(in_child(read_to, (void *)image) == SIGSEGV);
}

/* Stores the bounds and the rights of a region of this process. */
static bool region(const char *name, uintptr_t *start, uintptr_t *end, char rights[5])
{
	char line[256];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (!found && fgets(line, sizeof(line), maps))
		found = strstr(line, name) && sscanf(line, "%x-%x %4s", start, end, rights) == 3;
	fclose(maps);
	return found;
}

/* The clock's values are the last page of [vdso], or, on Linux, in a region of their own. */
static void find_clock(void)
{
	char rights[5];

	if (region("[vvar]", &clock_page, &clock_end, rights)) {
		CHECK(!strcmp(rights, "r--p"));
	} else {
		clock_end = library_end;
		clock_page = clock_end - PAGE;
	}
}

static void write_clock(void *arg)
{
	(void)arg;
	*(volatile int *)clock_page = 1;
}

/* Linux forbids it; here a program may change its own copy. */
static void replace_clock(void *arg)
{
	(void)arg;
	if (!call(SYS_mprotect, clock_page, PAGE, PROT_READ | PROT_WRITE))
		memset((void *)clock_page, 0xff, PAGE);
}

/* mprotect lets a program change its own copy of the library. */
static void replace_library(void *arg)
{
	static const char code[] = { 0xb8, 42, 0, 0, 0, 0xc3 }; /* mov $42, %eax; ret */

	(void)arg;
	if (!call(SYS_mprotect, (long)image, library_end - (long)image,
		  PROT_READ | PROT_WRITE | PROT_EXEC))
		memcpy((void *)vdso.time, code, sizeof(code));
	call(SYS_exit, vdso.time(NULL), 0, 0);
}

static void unmap_library(void *arg)
{
	if (call(SYS_munmap, (long)image, library_end - (long)image, 0) ||
	    call(SYS_getpid, 0, 0, 0) <= 0)
		call(SYS_exit, 1, 0, 0);
	if (arg)
		vdso.time(NULL);
}

static void unmap_clock(void *arg)
{
	(void)arg;
	call(SYS_munmap, clock_page, clock_end - clock_page, 0);
	vdso.time(NULL);
}

static void test_memory(void)
{
	uintptr_t start;
	long before;
	char rights[5];
	struct iovec to_library = { (void *)image, 4 };
	int zero = open("/dev/zero", O_RDONLY);

	CHECK(region("[vdso]", &start, &library_end, rights) && start == (uintptr_t)image &&
	      !strcmp(rights, "r-xp"));
	find_clock();
	CHECK(in_child(write_clock, NULL) == SIGSEGV);
	before = call(SYS_time, 0, 0, 0);
	CHECK(in_child(replace_clock, NULL) == 0 && vdso.time(NULL) - before <= 1);
	CHECK(in_child(replace_library, NULL) == 42 << 8);
	CHECK(vdso.time(NULL) != 42);
	CHECK(in_child(unmap_library, NULL) == 0 && in_child(unmap_library, "use") == SIGSEGV);
	CHECK(in_child(unmap_clock, NULL) == SIGSEGV);
	FAILS(readv(zero, &to_library, 1), EFAULT);
	FAILS(read(zero, (void *)clock_page, 4), EFAULT);
	CHECK(!close(zero));
	CHECK(mremap((void *)image, library_end - start, library_end - start, 0) == image);
	CHECK(mremap((void *)image, PAGE, 64 * PAGE, 0) == MAP_FAILED);
	CHECK(!madvise((void *)image, PAGE, MADV_DONTNEED) && vdso.time(NULL) > 0);
	CHECK(!memcmp(image, ELFMAG, SELFMAG));
}

/* A child has working copies of the library's pages, and so has its child: forks `depth` times. */
static void fork_again(void *depth)
{
	long long ts[2];

	if (vdso.clock_gettime64(CLOCK_MONOTONIC, ts) || getpid() <= 0)
		call(SYS_exit, 1, 0, 0);
	if (depth)
		call(SYS_exit, in_child(fork_again, (char *)depth - 1) != 0, 0, 0);
}

static void digest_readings(long long readings)
{
	unsigned long long now, before = 0;
	unsigned digest = 0;

	for (long long n = 0; n < readings; n++) {
		__asm__ volatile("call *%1"
				 : "=A"(now)
				 : "r"((char *)vdso.vsyscall + READ_CYCLES), "c"(clock_page));
		if (now < before || (n && now - before > 1000000000))
			nr_failures++;
		before = now;
		digest = digest * 31 + (unsigned)now;
	}
	printf("digest %08x\n", digest);
}

int main(int argc, char **argv)
{
	static const unsigned clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_MONOTONIC_RAW,
					   CLOCK_BOOTTIME };

	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 1, HELP);
	find();
	clock_page = (uintptr_t)image + PAGE;
	if (argc > 1)
		digest_readings(nr_failures ? 0 : atoll(argv[1]));
	if (argc > 1 || nr_failures)
		return check_report("vdso");
	for (size_t n = 0; n < ARRAY_SIZE(clocks); n++)
		test_clock(clocks[n]);
	test_other_clocks();
	test_time_of_day();
	test_bad_pointers();
	test_memory();
	CHECK(in_child(fork_again, (char *)3) == 0);
	return check_report("vdso");
}
