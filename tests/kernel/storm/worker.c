/*
 * A worker: makes its calls one after another, and counts the results. The call's number is written to the
 * board before the call, so that another worker can continue after a worker's last call. A copy (fork)
 * makes the next few calls, too, and ends.
 */
#include "storm.h"
#include <setjmp.h>
#include <sys/auxv.h>

extern char storm_int80[];
__asm__(".text\nstorm_int80:	int $0x80; ret\n");

enum { COPY_CALLS = 12, MAX_DEPTH = 2 };

static sigjmp_buf back;
static volatile bool touching;
static unsigned depth;
static uint32_t last_word; /* the sixth argument, because there is no register left for it */

static void *entry;

/* Half of the calls, as their arguments decide, enter the kernel through the vDSO. */
long system_call(uint32_t number, const uint32_t *a)
{
	long ret;

	last_word = a[5];
	entry = (number + a[0]) % 2 ? (void *)getauxval(AT_SYSINFO) : storm_int80;
	__asm__ volatile("pushl %%ebp; movl %[last], %%ebp; call *%[entry]; popl %%ebp"
			 : "=a"(ret)
			 : "a"(number), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]),
			   "D"(a[4]), [last] "m"(last_word), [entry] "m"(entry)
			 : "memory");
	return ret;
}

/* A fault outside touch() would be repeated for ever. */
static void on_signal(int sig)
{
	if (sig != SIGSEGV && sig != SIGBUS)
		return;
	if (!touching)
		_exit(2);
	touching = false;
	siglongjmp(back, sig);
}

static void catch_signals(void)
{
	static const int caught[] = { SIGUSR1, SIGUSR2, SIGALRM, SIGHUP, SIGSEGV, SIGBUS };

	for (size_t i = 0; i < ARRAY_SIZE(caught); i++) {
		struct sigaction action = { .sa_handler = on_signal };

		sigaction(caught[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
}

static long touch(uint32_t at, uint32_t length)
{
	length = length < ARENA_PAGES * PAGE_SIZE_BYTES ? length : PAGE_SIZE_BYTES;
	if (sigsetjmp(back, 1))
		return -EFAULT;
	touching = true;
	for (uint32_t byte = 0; byte < length; byte += PAGE_SIZE_BYTES)
		*(volatile uint32_t *)((at + byte) & ~3u) += 1;
	touching = false;
	return 0;
}

/* A number that is not in the table, without a system call. */
static long other_call(const uint32_t *args)
{
	for (unsigned k = 0; k < nr_kinds; k++)
		if (kinds[k].number == (int)(args[0] % 500))
			return -ENOSYS;
	return system_call(args[0] % 500, args);
}

static long perform(const struct kind *kind, uint32_t i, const uint32_t *args)
{
	switch (kind->number) {
	case BY_HAND:
		return touch(args[0], args[1]);
	case BY_HAND + 1:
		return sysctl_write(args[0]);
	case BY_HAND + 2:
		return other_call(args);
	case BY_HAND + 3:
		return raw_touch();
	case BY_HAND + 4:
		return code_execute(i);
	default:
		return system_call(kind->number, args);
	}
}

static bool makes_copy(const struct kind *kind)
{
	return kind->number == SYS_fork || kind->number == SYS_vfork || kind->number == SYS_clone;
}

/* Success of these calls cannot be observed: they are counted before. */
static bool leaves(const struct kind *kind)
{
	static const short numbers[] = { SYS_exit, SYS_exit_group, SYS_execve, SYS_sigreturn,
					 SYS_rt_sigreturn };

	for (size_t n = 0; n < ARRAY_SIZE(numbers); n++)
		if (kind->number == numbers[n])
			return true;
	return false;
}

static void count(const struct kind *kind, uint32_t i, long ret)
{
	unsigned error = ret < 0 && ret > -NR_ERRORS ? -ret : 0;
	struct cell *cell = &board->cells[kind - kinds][error];

	if (!cell->nr++)
		cell->first = i;
	board->nr_calls++;
}

/* Remembers what later calls may want to name. */
static void remember(const struct kind *kind, uint32_t i, long ret)
{
	if (ret < 0 && ret >= -4095)
		return;
	if (makes_copy(kind))
		last_child = ret;
	if (kind->number == SYS_shmget || !strcmp(kind->name, "ipc shmget"))
		last_segments[i / nr_workers % ARRAY_SIZE(last_segments)] = ret;
	if (kind->number == SYS_shmat)
		last_attached[i / nr_workers % ARRAY_SIZE(last_attached)] = ret;
}

/* Returns whether this process is now the copy. */
static bool make_call(uint32_t i)
{
	const struct kind *kind = draw_kind(i);
	uint32_t args[NR_ARGS] = { 0 };
	long ret;

	draw_args(kind, args);
	if (makes_copy(kind) && depth == MAX_DEPTH)
		return false;
	if (leaves(kind) && !depth &&
	    draw(4)) /* copies usually end here, because a worker has collected descriptors and memory */
		return false;
	if (leaves(kind))
		board->cells[kind - kinds][0].nr++;
	ret = perform(kind, i, args);
	if (leaves(kind))
		board->cells[kind - kinds][0].nr--;
	if (makes_copy(kind) && !ret)
		return true;
	count(kind, i, ret);
	remember(kind, i, ret);
	return false;
}

/* Sets where another worker continues if this one ends; calls of copies do not count. */
static void set_next(unsigned worker, uint32_t i)
{
	if (depth)
		return;
	board->workers[worker].next = i;
	board->workers[worker].check = ~i;
}

void work_through(unsigned worker, uint32_t end)
{
	uint32_t i = board->workers[worker].next;

	catch_signals();
	for (; i < end; i += nr_workers) {
		if (!keep_has(i))
			continue;
		set_next(worker, i + nr_workers);
		if (make_call(i)) {
			depth++;
			end = end < i + COPY_CALLS * nr_workers ? end : i + COPY_CALLS * nr_workers;
		}
	}
	set_next(worker, i);
	_exit(0);
}
