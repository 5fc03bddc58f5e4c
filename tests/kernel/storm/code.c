/*
 * Random code: pages of random bytes that begin with random instructions, mostly ones that a kernel can handle wrongly
 * (other segments, other stacks, ways to another privilege level), with random registers.
 *
 * The seed and n determine page number n. A separate process executes some pages, one after another: a signal,
 * including that of a time limit, leads to the next page. If the code has made that impossible, because the stack is
 * lost or the process's own data are overwritten, the process dies, and another one continues after that page.
 */
#include "storm.h"
#include <setjmp.h>
#include <sys/time.h>

enum {
	PAGES = 32, /* per call */
	CODE = 0x30000000,
	STACK = 0x30010000,
	STACK_PAGES = 3,
	STACK_END = STACK + STACK_PAGES * PAGE_SIZE_BYTES,
	LIMIT_US = 50,
	MAX_PIECES = 8,
	POOL_PAGES = 4,
	FIRST_PAGE = 1u << 30, /* different random numbers from those of calls */
};

/*
 * In place of bytes: a random operand. USERS is an address below the kernel's: if an lcall has its
 * stack in the kernel, QEMU before 9.1 writes there (docs/reference/limits.md).
 */
enum { VALUE = 256, USERS, SELECTOR, BYTE, SEGMENT, END };

/* clang-format off */
static const uint16_t pieces[][12] = {
	/* far returns, calls and jumps; returns from interrupts, with frames and without */
	{ 0xcb, END }, { 0xca, BYTE, 0, END }, { 0x66, 0xcb, END }, { 0xcf, END }, { 0x66, 0xcf, END },
	{ 0xbc, USERS, 0x9a, VALUE, SELECTOR, END }, { 0xea, VALUE, SELECTOR, END }, { 0xff, 0x2d, VALUE, END },
	{ 0x68, SELECTOR, 0, 0, 0x68, VALUE, 0xcb, END }, { 0x68, VALUE, 0x68, SELECTOR, 0, 0, 0x68, VALUE, 0xcf, END },
	{ 0xbc, VALUE, 0xcb, END }, { 0xbc, VALUE, 0xcf, END }, 
	/* interrupts and system calls */
	{ 0xcd, BYTE, END }, { 0xcd, 0x80, END }, { 0xcc, END }, { 0xce, END }, { 0xf1, END }, { 0x0f, 0x34, END },
	{ 0x0f, 0x35, END }, { 0x0f, 0x05, END }, { 0x0f, 0x07, END }, { 0xbc, VALUE, 0xcd, 0x80, END }, { 0xbc, VALUE, 0x0f, 0x34, END }, { 0xbd, VALUE, 0x0f, 0x34, END },
	/* privileged: flags, ports, tables, control and debug registers, machine-specific registers, caches */
	{ 0xf4, END }, { 0xfa, END }, { 0xfb, END }, { 0xec, END }, { 0xee, END }, { 0xe4, BYTE, END }, { 0xe6, BYTE, END },
	{ 0xf3, 0x6c, END }, { 0xf3, 0x6f, END }, { 0x0f, 0x01, 0x15, VALUE, END }, { 0x0f, 0x01, 0x1d, VALUE, END },
	{ 0x0f, 0x01, 0x05, VALUE, END }, { 0x0f, 0x01, BYTE, END }, { 0x0f, 0x00, BYTE, END }, { 0x0f, 0x20, BYTE, END },
	{ 0x0f, 0x22, BYTE, END }, { 0x0f, 0x21, BYTE, END }, { 0x0f, 0x23, BYTE, END }, { 0x0f, 0x30, END }, { 0x0f, 0x32, END },
	{ 0x0f, 0x33, END }, { 0x0f, 0x06, END }, { 0x0f, 0x08, END }, { 0x0f, 0x09, END }, { 0x0f, 0xaa, END }, { 0x0f, 0x0b, END },
	/* segments */
	{ 0x66, 0xb8, SELECTOR, 0x8e, SEGMENT, END }, { 0x66, 0xb8, SELECTOR, 0x8e, SEGMENT, END }, { 0x8e, BYTE, END },
	{ 0x66, 0x68, SELECTOR, 0x66, 0x07, END }, { 0x66, 0x68, SELECTOR, 0x66, 0x1f, END }, { 0x66, 0x68, SELECTOR, 0x66, 0x17, END },
	{ 0x07, END }, { 0x17, END }, { 0x1f, END }, { 0x0f, 0xa1, END }, { 0x0f, 0xa9, END }, { 0x06, END }, { 0x0e, END },
	{ 0x16, END }, { 0x1e, END }, { 0xc4, BYTE, END }, { 0xc5, BYTE, END }, { 0x0f, 0xb2, BYTE, END }, { 0x0f, 0xb4, BYTE, END },
	{ 0x0f, 0xb5, BYTE, END }, { 0x63, BYTE, END }, { 0x0f, 0x02, BYTE, END }, { 0x0f, 0x03, BYTE, END }, { 0x64, BYTE, BYTE, END },
	{ 0x65, BYTE, BYTE, END },
	/* strings, with their registers */
	{ 0xf3, 0xa4, END }, { 0xf3, 0xa5, END }, { 0xf3, 0xaa, END }, { 0xf3, 0xab, END }, { 0xf3, 0xac, END }, { 0xf2, 0xae, END },
	{ 0xf3, 0xa6, END }, { 0xfd, END }, { 0xb9, VALUE, END }, { 0xbe, VALUE, END }, { 0xbf, VALUE, END }, { 0xb8, VALUE, END },
	/* the stack */
	{ 0xbc, VALUE, END }, { 0x81, 0xc4, VALUE, END }, { 0x83, 0xec, BYTE, END }, { 0x94, END }, { 0x5c, END }, { 0xc9, END },
	{ 0xc8, BYTE, BYTE, BYTE, END }, { 0x60, END }, { 0x61, END }, { 0x68, VALUE, END }, { 0x8f, BYTE, END },
	/* flags, the FPU, and other traps */
	{ 0x9c, END }, { 0x9d, END }, { 0x68, VALUE, 0x9d, END }, { 0x62, BYTE, END }, { 0xd9, BYTE, END }, { 0xdd, BYTE, END },
	{ 0x9b, END }, { 0x0f, 0xae, BYTE, END }, { 0x0f, 0xc7, BYTE, END }, { 0xf0, 0x0f, 0xc1, BYTE, END }, { 0xf7, 0xf0, END },
	{ 0xd4, 0, END }, { 0x67, BYTE, BYTE, END }, { 0xe2, BYTE, END }, { 0xeb, BYTE, END },
};
/* clang-format on */

static const uint16_t selectors[] = { 0,    3,    0x08, 0x10, 0x1b, 0x23, 0x2b, 0x33, 0x3b,
				      0x43, 0x60, 0x63, 0x68, 0x6b, 0x73, 0x7b, 0x83, 0x8b,
				      0x0c, 0x07, 0x0f, 0x30, 0x38, 0x70, 0x78, 0x93 };

static uint32_t *pool; /* random, generated once, and read-only: the source of the pages' content */
static volatile uint32_t *next_page; /* shared by the executing process and the waiting one */
static struct {
	uint32_t di, si, bp, bx, dx, cx, ax, flags, sp;
} start;
static sigjmp_buf back;
static volatile bool executing;
static int own_pid;
static uint16_t own_gs;

/* --- the content of a page --- */

static uint32_t draw_value(void)
{
	switch (draw(8)) {
	case 0:
		return CODE + draw(PAGE_SIZE_BYTES);
	case 1:
		return STACK + draw(STACK_END - STACK);
	case 2:
		return (draw(2) ? STACK : STACK_END) - 16 + draw(32);
	case 3:
		return 0xC0000000 - 16 + (draw(2) ? draw(32) : draw(1 << 24));
	case 4:
		return draw(64);
	case 5:
		return -draw(64);
	default:
		return draw_word();
	}
}

static uint8_t *put(uint8_t *at, uint32_t value, size_t size)
{
	memcpy(at, &value, size);
	return at + size;
}

static uint8_t *put_piece(uint8_t *at)
{
	for (const uint16_t *code = pieces[draw(ARRAY_SIZE(pieces))]; *code != END; code++) {
		if (*code == VALUE || *code == USERS)
			at = put(at, draw_value() & (*code == VALUE ? -1u : 0x3fffffff), 4);
		else if (*code == SELECTOR)
			at = put(at, draw(8) ? selectors[draw(ARRAY_SIZE(selectors))] : draw_word(),
				 2);
		else if (*code == SEGMENT)
			*at++ = 0xc0 | draw(8) << 3;
		else
			*at++ = *code == BYTE ? draw_word() >> 8 : *code;
	}
	return at;
}

static void fill_page(void)
{
	uint8_t *at = (uint8_t *)CODE;

	memcpy(at, (uint8_t *)pool + draw((POOL_PAGES - 1) * PAGE_SIZE_BYTES), PAGE_SIZE_BYTES);
	for (uint32_t left = draw(MAX_PIECES + 1); left; left--)
		at = draw(4) ? put_piece(at) : at + draw(5);
}

static void draw_registers(void)
{
	uint32_t *words = &start.di;

	for (size_t w = 0; w < sizeof(start) / sizeof(*words); w++)
		words[w] = draw_value();
	start.flags &= draw(4) ? 0xcd5 : 0x244dd5; /* not always trap, nested task, alignment */
	if (draw(4))
		start.sp = STACK_END - 4 * draw(PAGE_SIZE_BYTES / 4);
}

/* Makes a segment with random limits, in one of the TLS entries that the C library does not use. */
static void draw_segment(void)
{
	uint32_t words[4] = { 7 + draw(2), draw_value(), draw_value(), draw(128) };
	uint32_t args[NR_ARGS] = { (uintptr_t)words };

	system_call(SYS_set_thread_area, args);
}

static void draw_page(uint32_t page)
{
	draw_begin(FIRST_PAGE + page);
	if (!draw(4))
		draw_segment();
	if (!draw(4))
		madvise((void *)STACK, STACK_END - STACK, MADV_DONTNEED);
	draw_registers();
	fill_page();
}

/* --- the executing process --- */

static void on_signal(int sig)
{
	uint32_t args[NR_ARGS] = { 2 };

	__asm__ volatile("mov %0, %%gs; fninit; pushl $0x202; popfl" : : "r"((uint32_t)own_gs));
	if (system_call(SYS_getpid, args) != own_pid) /* the page has called fork */
		system_call(SYS_exit, args);
	if (!executing && sig == SIGALRM)
		return;
	if (!executing)
		system_call(SYS_exit, args);
	executing = false;
	siglongjmp(back, 1);
}

static void prepare(void)
{
	static const int caught[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM };
	struct sigaction action = { .sa_handler = on_signal };

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
		sigaction(caught[i], &action, NULL);
	sigemptyset(&action.sa_mask);
	sigprocmask(SIG_SETMASK, &action.sa_mask, NULL);
	own_pid = getpid();
	__asm__("mov %%gs, %0" : "=r"(own_gs));
	munmap(board, sizeof(*board));
	if (mmap((void *)CODE, PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    mmap((void *)STACK, STACK_END - STACK, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		_exit(1);
}

static void execute(void)
{
	static const uint32_t code = CODE;
	struct itimerval limit = { .it_value.tv_usec = LIMIT_US };

	setitimer(ITIMER_REAL, &limit, NULL);
	executing = true;
	__asm__ volatile("pushl 28(%%eax); popfl; movl (%%eax), %%edi; movl 4(%%eax), %%esi; "
			 "movl 8(%%eax), %%ebp; movl 12(%%eax), %%ebx; movl 16(%%eax), %%edx; "
			 "movl 20(%%eax), %%ecx; movl 32(%%eax), %%esp; movl 24(%%eax), %%eax; "
			 "jmp *%[code]"
			 :
			 : "a"(&start), [code] "m"(code)
			 : "memory");
	__builtin_unreachable();
}

static __attribute__((noreturn)) void execute_pages(uint32_t end)
{
	prepare();
	sigsetjmp(back, 1); /* every signal leads here */
	while (*next_page < end) {
		draw_page((*next_page)++);
		execute();
	}
	_exit(0);
}

/* --- the waiting process --- */

/* Returns false if a signal came first; the process is then killed. */
static bool wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) == pid)
		return true;
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return false;
}

/* Accepts from the counts of a process that died only what is possible. */
static void pass(uint32_t begun, uint32_t end)
{
	if (*next_page <= begun || *next_page > end)
		*next_page = begun + 1;
	board->nr_pages += *next_page - begun;
}

static bool make_room(void)
{
	size_t size = POOL_PAGES * PAGE_SIZE_BYTES;

	pool = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	next_page = mmap(NULL, PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);
	if (pool == MAP_FAILED || next_page == MAP_FAILED)
		return false;
	draw_begin(FIRST_PAGE - 1);
	for (uint32_t w = 0; w < POOL_PAGES * WORDS_PER_PAGE; w++)
		pool[w] = draw_word();
	return !mprotect(pool, size, PROT_READ);
}

long code_execute(uint32_t i)
{
	static bool is_ready;
	uint32_t end = (i + 1) * PAGES;

	if (!is_ready && !make_room())
		return -ENOMEM;
	is_ready = true;
	for (*next_page = i * PAGES; *next_page < end;) {
		uint32_t begun = *next_page;
		pid_t pid = fork();

		if (pid < 0)
			return -errno;
		if (!pid)
			execute_pages(end);
		if (!wait_for(pid))
			return -EINTR;
		pass(begun, end);
	}
	return 0;
}
