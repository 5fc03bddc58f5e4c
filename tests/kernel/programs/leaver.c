/* Shares a page with a child, and executes another program while the child continues. No C library. */

enum {
	SYS_EXIT = 1,
	SYS_FORK = 2,
	SYS_EXECVE = 11,
	SYS_NANOSLEEP = 162,
	SYS_MMAP2 = 192,
	PROT_READ_WRITE = 3,
	MAP_SHARED_ANONYMOUS = 0x21
};

static long call(long nr, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

static volatile char *map_shared(void)
{
	void *at;

	__asm__ volatile("push %%ebp\n\txor %%ebp, %%ebp\n\tint $0x80\n\tpop %%ebp"
			 : "=a"(at)
			 : "a"(SYS_MMAP2), "b"(0), "c"(4096), "d"(PROT_READ_WRITE),
			   "S"(MAP_SHARED_ANONYMOUS), "D"(-1)
			 : "memory");
	return at;
}

void _start(void)
{
	static const long moment[2] = { 0, 20000000 };
	static const char *const args[] = { "true", 0 };
	volatile char *page = map_shared();

	for (volatile int i = 0; i < 1000000; i++)
		;
	*page = 1;
	if (!call(SYS_FORK, 0, 0, 0)) {
		*page = 2;
		call(SYS_NANOSLEEP, (long)moment, 0, 0);
		call(SYS_EXIT, 0, 0, 0);
	}
	while (*page != 2)
		;
	call(SYS_EXECVE, (long)"/bin/true", (long)args, 0);
	call(SYS_EXIT, 1, 0, 0);
}
