/*
 * sysenter: a program executes the instruction directly, anywhere and with any registers. The kernel takes the
 * program's ebp for its stack, reads the sixth argument from there, and returns into the vDSO, behind int $0x80, which
 * pops ebp, edx and ecx and returns. The vDSO's own system call is interrupted by signals, and must behave as int
 * $0x80 does.
 */
#include "check.h"
#include "lab.h"
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>

#define HELP "usage: sysenter\n"

enum {
	PAGE = PAGE_SIZE_BYTES,
	TF = 0x100,
	DF = 0x400,
	NT = 0x4000,
	KERNEL = 0xC0100000,
	TURNS = 200
};

/* The registers before sysenter and after it. ebp 0: the address of the frame for the return. */
struct state {
	long eax, ebx, ecx, edx, esi, edi, ebp, esp, flags;
};

struct state in, out; /* accessed by enter(), too */
static volatile sig_atomic_t traps;

/* Loads the registers from `in`, pushes a frame for the return, executes sysenter, and stores the
 * registers in `out`. */
void enter(void);
__asm__(".text\n"
	"enter:	pusha\n"
	"	mov %esp, saved_esp\n"
	"	push $returned\n"
	"	push in + 8\n"  /* ecx, */
	"	push in + 12\n" /* edx, */
	"	push $6666\n"   /* and ebp, popped by the vDSO */
	"	mov %esp, %ebp\n"
	"	cmpl $0, in + 24\n"
	"	je 1f\n"
	"	mov in + 24, %ebp\n"
	"1:	mov in + 4, %ebx\n"
	"	mov in + 8, %ecx\n"
	"	mov in + 12, %edx\n"
	"	mov in + 16, %esi\n"
	"	mov in + 20, %edi\n"
	"	mov in, %eax\n"
	"	pushf\n"
	"	pushf\n"
	"	push %eax\n"
	"	mov in + 32, %eax\n"
	"	or %eax, 4(%esp)\n"
	"	pop %eax\n"
	"	popf\n"
	"	mov in + 28, %esp\n"
	"	sysenter\n"
	"returned:\n"
	"	mov %eax, out\n"
	"	mov %ebx, out + 4\n"
	"	mov %ecx, out + 8\n"
	"	mov %edx, out + 12\n"
	"	mov %esi, out + 16\n"
	"	mov %edi, out + 20\n"
	"	mov %ebp, out + 24\n"
	"	pushf\n"
	"	pop out + 32\n"
	"	mov saved_esp, %esp\n"
	"	push $0x202\n"
	"	popf\n"
	"	popa\n"
	"	ret\n"
	".bss\n"
	"saved_esp:	.long 0\n"
	".text\n");

/* Makes a system call at the address in AT_SYSINFO, as C libraries do. */
static long vsyscall(long nr, long a, long b, long c)
{
	static void *entry;
	long result;

	if (!entry)
		entry = (void *)getauxval(AT_SYSINFO);
	__asm__ volatile("call *%1"
			 : "=a"(result)
			 : "m"(entry), "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return result;
}

static void expect(long nr, long result)
{
	in.eax = nr;
	enter();
	CHECK(out.eax == result);
	CHECK(out.ebx == in.ebx && out.ecx == in.ecx && out.edx == in.edx);
	CHECK(out.esi == in.esi && out.edi == in.edi && out.ebp == 6666);
}

static void load(void)
{
	in = (struct state){ 0, 11, 22, 33, 44, 55, 0, 66, 0 };
}

static void test_registers(void)
{
	static const long stacks[] = { 0, 4, KERNEL, -4, 0xBFFFFFFC };
	static const long none[] = { 451, 4096, 0x7fffffff, 0x80000000, -1, -4095 };

	load();
	for (size_t n = 0; n < ARRAY_SIZE(stacks); n++) { /* esp counts for nothing */
		in.esp = stacks[n];
		expect(SYS_getpid, getpid());
	}
	for (size_t n = 0; n < ARRAY_SIZE(none); n++)
		expect(none[n], -ENOSYS);
}

static void trapped(int sig)
{
	(void)sig;
	traps++;
}

static void test_flags(void)
{
	static char
		stack[8 *
		      PAGE]; /* for the handler, which runs also before the kernel has returned */
	struct sigaction action = { .sa_handler = trapped };

	load();
	in.flags = NT;
	expect(SYS_getpid, getpid());
	CHECK(out.flags & NT);
	in.flags = DF;
	expect(SYS_getpid, getpid());
	CHECK(out.flags & DF);
	CHECK(!sigaction(SIGTRAP, &action, NULL));
	for (unsigned n = 0; n < TURNS; n++) {
		traps = 0;
		in.flags = n % 2 ? TF : TF | NT | DF;
		in.eax = SYS_getpid;
		in.esp = (long)(stack + sizeof(stack));
		enter();
		CHECK(out.eax == getpid() && traps > 0 && out.flags & TF);
	}
}

/* Makes a system call through the vDSO with data segments that the kernel must replace: null, and with a base. */
static void test_segments(void)
{
	static void *entry;
	long result, segments[2] = { 0 };

	entry = (void *)getauxval(AT_SYSINFO);
	__asm__("mov %%gs, %0" : "=r"(segments[1]));
	for (size_t n = 0; n < ARRAY_SIZE(segments); n++) {
		__asm__ volatile("push %%ds; push %%es; mov %2, %%es; mov %2, %%ds\n\t"
				 "call *%%ss:%1; pop %%es; pop %%ds"
				 : "=a"(result)
				 : "m"(entry), "r"(segments[n]), "0"(SYS_getpid)
				 : "memory");
		CHECK(result == getpid());
	}
}

static int status_with_stack(long ebp)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		load();
		in.ebp = ebp;
		in.eax = SYS_getpid;
		enter();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* The sixth argument cannot be read, or the frame is not one: the program faults in the vDSO, not the kernel. */
static void test_wrong_stack(void)
{
	static const long wrong[] = { 1,          4,          KERNEL,     KERNEL - 2,
				      0xBFFFFFFC, 0xBFFFFFFE, 0xBFFFFFFF, 0xC0000000,
				      -1,         -3,         -4,         0x7fffffff };
	char *pages = lab_map(2);

	for (size_t n = 0; n < ARRAY_SIZE(wrong); n++)
		CHECK(status_with_stack(wrong[n]) == SIGSEGV);
	CHECK(!munmap(pages + PAGE, PAGE));
	CHECK(status_with_stack((long)pages + PAGE - 2) == SIGSEGV); /* a word that is half there */
	CHECK(status_with_stack((long)pages + PAGE - 4) == SIGSEGV);
	CHECK(status_with_stack((long)pages) ==
	      SIGSEGV); /* not touched yet: reads as 0, which is the return address */
	CHECK(!munmap(pages, PAGE));
}

static void test_unmapped_library(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		void *library = (void *)getauxval(AT_SYSINFO_EHDR);
		long result;

		__asm__ volatile("int $0x80"
				 : "=a"(result)
				 : "a"(SYS_munmap), "b"(library), "c"(PAGE)
				 : "memory");
		load();
		in.eax = SYS_getpid;
		enter();
		__asm__ volatile("int $0x80" ::"a"(SYS_exit), "b"(0));
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == SIGSEGV);
}

/* mmap with six arguments: the sixth is the page of the file from which it begins. */
static void test_sixth_argument(void)
{
	char *before, name[] = "/tmp/sysenterXXXXXX";
	int fd = mkstemp(name);

	CHECK(!ftruncate(fd, 3 * PAGE) && pwrite(fd, "third", 5, 2 * PAGE) == 5);
	before = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd,
		      2 * PAGE); /* musl uses the library, if there is one */
	CHECK(before != MAP_FAILED && !memcmp(before, "third", 5));
	CHECK(!munmap(before, PAGE) && !unlink(name) && !close(fd));
}

/* A handler that itself calls by sysenter, on a signal's frame. */
static void call_again(int sig)
{
	(void)sig;
	traps++;
	CHECK(vsyscall(SYS_getpid, 0, 0, 0) == getpid());
}

static void alarm_in_ms(long ms)
{
	struct itimerval timer = { .it_value.tv_usec = ms * 1000 };

	CHECK(!setitimer(ITIMER_REAL, &timer, NULL));
}

/* Reads from a pipe to which a child writes after the signal. */
static long interrupted_read(int flags)
{
	struct sigaction action = { .sa_handler = call_again, .sa_flags = flags };
	int fds[2], status;
	char byte = 0;
	long got;
	pid_t pid;

	CHECK(!sigaction(SIGALRM, &action, NULL) && !pipe(fds));
	traps = 0;
	pid = fork();
	if (!pid) {
		sleep_ms(60);
		_exit(write(fds[1], "w", 1) != 1);
	}
	alarm_in_ms(20);
	got = vsyscall(SYS_read, fds[0], (long)&byte, 1);
	CHECK(traps == 1 && (got != 1 || byte == 'w'));
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(!close(fds[0]) && !close(fds[1]));
	return got;
}

static void test_signals(void)
{
	struct sigaction action = { .sa_handler = call_again };

	CHECK(interrupted_read(SA_RESTART) == 1);
	CHECK(interrupted_read(0) == -EINTR);
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	traps = 0;
	load();
	in.ebx = getpid();
	in.ecx = SIGUSR1;
	in.esp = KERNEL; /* the handler runs at once, on the stack that ebp told */
	expect(SYS_kill, 0);
	CHECK(traps == 1);
}

static void test_fork(void)
{
	int status = -1;
	long pid = vsyscall(SYS_fork, 0, 0, 0);

	if (!pid)
		_exit(vsyscall(SYS_getpid, 0, 0, 0) <= 0);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	test_registers();
	test_flags();
	test_segments();
	test_wrong_stack();
	test_unmapped_library();
	test_sixth_argument();
	test_signals();
	test_fork();
	return check_report("sysenter");
}
