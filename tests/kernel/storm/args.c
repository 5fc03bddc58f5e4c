/*
 * Arguments. A letter says what a call needs: a descriptor, a path, an address. Most arguments are of
 * the right kind, one in WILD_ONE_IN is not. Random values depend only on the seed and the call's number,
 * not on the calls before it: leaving a call out does not change the others, except through its effects,
 * such as which descriptors are open.
 */
#include "storm.h"
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/time.h>
#include <sys/uio.h>

enum { WILD_ONE_IN = 24, HEAP_PAGES = 48, NO_PID = 99999 };

char scratch[SCRATCH];
int last_child = NO_PID;
uint32_t last_segments[4], last_attached[4];
static uint32_t state;
static char long_name[256], longer_name[300], others[6][80];
extern char end[]; /* end of the program, where the heap begins */

/* The random values for a letter; @mix: several combined. */
struct set {
	char letter;
	bool mix;
	uint32_t nr;
	const uint32_t *values;
};

#define VALUES(...)                                                                                \
	ARRAY_SIZE(((uint32_t[]){ __VA_ARGS__ })), (const uint32_t[])                              \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

/* clang-format off */
static const struct set sets[] = {
	{ 'O', true, VALUES(O_RDWR, O_RDWR, O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_EXCL, O_NONBLOCK, O_NONBLOCK, O_DIRECTORY, O_CLOEXEC, O_DIRECT, O_NOFOLLOW, O_SYNC) },
	{ 'm', false, VALUES(0644, 0755, 0777, 0600, 0, 04755, 0100644, 01777, 0400) },
	{ 'R', false, VALUES(PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE, PROT_WRITE, 7, 5) },
	{ 'M', false, VALUES(MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, MAP_SHARED | MAP_FIXED, MAP_SHARED | MAP_FIXED, MAP_PRIVATE | MAP_FIXED, MAP_SHARED, MAP_PRIVATE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, MAP_SHARED | MAP_FIXED_NOREPLACE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_LOCKED, MAP_ANONYMOUS, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN) },
	{ 'S', false, VALUES(0, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGKILL, SIGSEGV, SIGSTOP, SIGCONT, SIGPIPE, SIGFPE, 33, 64, 65, SIGWINCH) },
	{ 'K', false, VALUES(F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLK, F_SETLKW, 5, 6, 7, 36, 37, 1024, F_SETPIPE_SZ, F_GETPIPE_SZ, 99) },
	{ 'I', false, VALUES(FIONREAD, FIONREAD, TCGETS, TCSETS, TIOCGPGRP, TIOCGWINSZ, 0) },
	{ 'W', false, VALUES(WNOHANG, WNOHANG, WNOHANG, WNOHANG | WUNTRACED, 0, 0x20000000, 0xffff) },
	{ '&', false, VALUES(0, 0, 1, 1000, 65534, (uint32_t)-1) },
	{ '_', false, VALUES(WEXITED | WNOHANG, WEXITED | WNOHANG, WEXITED, WEXITED | WNOHANG | WNOWAIT, WSTOPPED | WNOHANG) },
	{ 's', false, VALUES(SEEK_SET, SEEK_SET, SEEK_CUR, SEEK_END, 3, 4, 5) },
	{ '0', false, VALUES(0, 1, 2, 2, 3, 13, 14, 0x102) },
	{ '!', false, VALUES(0, 0, 0, 0, AT_REMOVEDIR, AT_REMOVEDIR, AT_SYMLINK_NOFOLLOW) },
	{ '#', false, VALUES(0, 0, 0, AT_SYMLINK_FOLLOW, AT_EMPTY_PATH) },
	{ '%', false, VALUES(0, 0, 0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH) },
	{ '=', false, VALUES(84) },
	{ '2', false, VALUES(0, 0, 0, MS_RDONLY, MS_REMOUNT, MS_REMOUNT | MS_RDONLY, MS_NOSUID, MS_BIND, MS_MOVE) },
	{ '3', false, VALUES(0, 0, 0, 1, 2, 4, 8) },
	{ '4', false, VALUES(MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_DONTNEED, MADV_FREE, 12) },
	{ '5', false, VALUES(SIGCHLD, SIGCHLD, CLONE_VFORK | SIGCHLD, CLONE_VM | CLONE_VFORK | SIGCHLD, CLONE_PARENT_SETTID | SIGCHLD, CLONE_CHILD_SETTID | SIGCHLD, CLONE_CHILD_CLEARTID | SIGCHLD, CLONE_VM, 0) },
	{ '6', true, VALUES(0600, 01000, 01000, 02000) },
	{ '7', false, VALUES(0, 0, 010000, 020000, 040000, 060000, 0100000) },
	{ '8', false, VALUES(8, 8, 8, 8, 8, 4) },
	{ '9', false, VALUES(1 | 4, 2 | 4, 1 | 4, 2 | 4, 8, 8, 1, 2, 0) },
	{ 'H', false, VALUES(SIG_BLOCK, SIG_UNBLOCK, SIG_UNBLOCK, SIG_SETMASK, 3) },
	{ 'u', false, VALUES(CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, 2, 3, 4, 6, 77) },
	{ 'e', false, VALUES(0, 0, 1, 3, 2, 4) },
	{ 'D', false, VALUES(0x103, 0x105, 0x107, 0, 0x4d01, 0xffff, 0x12345678) },
	{ 't', false, VALUES(S_IFREG | 0644, S_IFIFO | 0644, S_IFIFO | 0600, S_IFCHR | 0666, S_IFREG, 0, S_IFDIR, S_IFSOCK, S_IFLNK) },
	{ 'Q', false, VALUES(0, 0, 0, 1, 2, 3) },
	{ 'X', false, VALUES(0, 0, 1, 1, 2, 3, 4, 5, 8, 16) },
	{ 'J', false, VALUES(21, 21, 22, 23, 23, 24, 11, 1, 14) },
	{ 'Y', false, VALUES(0, O_CLOEXEC, O_NONBLOCK, O_NONBLOCK, O_NONBLOCK | O_CLOEXEC, O_DIRECT) },
	{ 'Z', false, VALUES(0, 0, 0x8000, 0x8003, 0x10000) },
	{ 'l', false, VALUES(0, 1, 8, 64, 84, 96, 511, 512, 4096, 4096, 4097, 10000, SCRATCH) },
	{ 'o', false, VALUES(0, 0, 1, 511, 512, 4095, 4096, 8192, 12288, 20000, 65536, 0xfffff000, 1 << 20, 0x7fffffff) },
	{ 'h', false, VALUES(0, 0, 0, 0, 0, 0, 0, 1, 0xffffffff, 0x7fffffff) },
	{ 'k', false, VALUES(1, 2, 3, 4, 5, 6, 0) },
	{ 'z', false, VALUES(0) },
};
/* clang-format on */

static const char *const own_paths[] = {
	"f",       "g",       "d",       "d/h",     "d/i",     "l",       "loop",      "fifo",
	"s",       "m",       "n",       "a",       "b",       "c",       "m/a",       "m/b",
	"n/a",     "m/d",     "d/../f",  "./g",     "d/e",     "d/e/k",   "sw",        "",
	"f/x",     "a/b",     ".",       "d/",      "m",       long_name, longer_name, "b/c",
	others[0], others[1], others[2], others[3], others[4], others[5],
};
static const char *const other_paths[] = {
	"/dev/null",       "/dev/zero",        "/dev/full",       "/dev/urandom",
	"/proc/self/maps", "/proc/self/smaps", "/proc/self/stat", "/proc/self/status",
	"/proc/vmstat",    "/proc/vm/policy",  "/proc/meminfo",   "/proc/slabinfo",
	"/proc/mounts",    "/proc/1/maps",     "/proc/swaps",     "/proc/locks",
	"/proc/self/fd",   "/proc/self/exe",   "/proc/loadavg",   "/proc/vm/check",
};
static const char *const programs[] = { "/bin/true", "/bin/true", "/bin/false", "s",
					"f",         "d",         "none",       "fifo" };
static const char *const sources[] = { "/dev/sda2", "/dev/sda2", "none",     "none",
				       "f",         "/dev/sda3", "/dev/null" };
static const char *const places[] = { "m",   "n", "m",    "n",       "d",
				      "m/d", "f", "none", others[3], others[5] };
static const char *const types[] = { "ext2", "ext2", "ramfs", "tmpfs", "proc", "ext3", "" };
static const char *const areas[] = { "/dev/sda3", "/dev/sda3", "sw",        "sw",
				     "f",         "d",         "/dev/null", "none" };

static const uint32_t addresses[] = {
	0,         1,          0xC0000000, 0xC0100000, 0xFFFFFFF0, 0xFFFFFFFF, 0x40000000,
	ARENA - 2, 0xBFFFFFFC, 0xFFFFF000, 0x80000000, 0x08048000, 0x7fffffff, 0xC0000000 - 4096,
};
static const uint32_t numbers[] = {
	0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff, 0xC0000000, 65536,      65535,
	4095,       64,         63,         100,        1 << 30,    0xfffff000,
};

uint32_t draw(uint32_t below)
{
	/* The low bits of xorshift are its weakest. */
	return (lab_random(&state) >> 5) % below;
}

uint32_t draw_word(void)
{
	return lab_random(&state);
}

void draw_begin(uint32_t i)
{
	state = (seed * 0x9E3779B9u) ^ ((i + 1) * 0x85EBCA6Bu);
	state ^= state >> 15;
	state = state ? state : 1;
	for (int turn = 0; turn < 3; turn++)
		lab_random(&state);
}

#define PICK(array) ((uint32_t)(array)[draw(ARRAY_SIZE(array))])

/* Sets the names of the other folder, so that files move from one file system to the other. */
void args_prepare(int dir)
{
	static const char *const names[] = { "f", "a", "d/a", "m", "fifo", "d" };
	const char *other = work[(dir + 1) % nr_dirs];

	memset(long_name, 'y', sizeof(long_name) - 1);
	memset(longer_name, 'z', sizeof(longer_name) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		snprintf(others[i], sizeof(others[i]), "%s/%s", other, names[i]);
}

static uint32_t draw_one(char letter);

static uint32_t draw_number(void)
{
	switch (draw(4)) {
	case 0:
		return PICK(numbers);
	case 1:
		return draw(1 << 16);
	default:
		return draw(20);
	}
}

static uint32_t draw_wild_address(void)
{
	return draw(4) ? PICK(addresses) : draw(1 << 26) << 6;
}

static uint32_t draw_fd(void)
{
	uint32_t kind = draw(32);

	return kind == 0 ? PICK(numbers) : kind < 4 ? draw(64) : draw(24);
}

static uint32_t draw_pid(void)
{
	switch (draw(6)) {
	case 0:
		return 0;
	case 1:
		return board->workers[draw(nr_workers)].pid;
	case 2:
		return getpid();
	case 3:
		return draw(3) ? NO_PID : 1;
	default:
		return last_child;
	}
}

static uint32_t draw_page(void)
{
	return ARENA + draw(ARENA_PAGES) * PAGE_SIZE_BYTES;
}

static uint32_t draw_buffer(void)
{
	return draw(2) ? (uintptr_t)scratch + draw(SCRATCH / 8) * 4
		       : draw_page() + draw(PAGE_SIZE_BYTES);
}

static uint32_t draw_range(void)
{
	return draw(4) ? (1 + draw(12)) * PAGE_SIZE_BYTES : draw(96) * 1000;
}

/* Structures: one of each has its own memory, filled again for each call. */

static void *draw_action(void)
{
	static struct {
		uint32_t handler, flags, restorer, mask[2];
	} action;
	struct sigaction mine;

	sigaction(SIGUSR1, NULL, &mine);
	action.handler = draw(8) ? (draw(2) ? draw(2) : (uintptr_t)mine.sa_handler)
				 : draw_wild_address();
	action.flags = draw(2) ? SA_RESTART : draw(2) ? SA_NODEFER : SA_SIGINFO;
	action.mask[0] = draw(8) ? 0 : PICK(numbers);
	return &action;
}

static void *draw_signals(void)
{
	static uint32_t set[2];

	set[0] = draw(2) ? 1u << draw(32) : draw(1 << 16);
	set[1] = draw(4) ? 0 : PICK(numbers);
	return set;
}

/* Short times: seconds and a fraction; two of them form a pair for setitimer and utimes. */
static void *draw_times(char letter)
{
	static uint32_t words[8];

	for (int i = 0; i < 8; i++)
		words[i] = i % 2 ? draw(8) ? draw(letter == 'T' ? 200000 : 2000) : PICK(numbers)
				 : (draw(16) ? 0 : PICK(numbers));
	return words;
}

/* Draws times as draw_times does, but with 64-bit words. */
static void *draw_long_times(void)
{
	static uint32_t words[8];

	for (int i = 0; i < 8; i += 2)
		words[i] = i % 4 ? draw(200000) : draw(16) ? 0 : PICK(numbers);
	return words;
}

static void *draw_vector(void)
{
	static uint32_t vector[16][2];

	for (int i = 0; i < 16; i++) {
		vector[i][0] = draw(16) ? draw_buffer() : draw_wild_address();
		vector[i][1] = draw(32) ? draw(3000) : PICK(numbers);
	}
	return vector;
}

static void *draw_polled(void)
{
	static struct pollfd polled[16];

	for (int i = 0; i < 16; i++)
		polled[i] = (struct pollfd){ .fd = draw_fd(), .events = draw(64) };
	return polled;
}

/* In the layout of F_SETLK, with which that of F_SETLK64 begins. */
static void *draw_lock(void)
{
	static struct {
		int16_t type, whence;
		uint32_t words[8];
	} lock;

	lock.type = draw(16) ? draw(3) : 7;
	lock.whence = draw(8) ? 0 : draw(4);
	for (int i = 0; i < 8; i++)
		lock.words[i] = i % 2 ? draw(4) : draw(16) ? draw(100) : PICK(numbers);
	return &lock;
}

static void *draw_descriptor(void)
{
	static uint32_t desc[4];

	desc[0] = draw(2) ? 0xffffffff : draw(16);
	desc[1] = draw_number();
	desc[2] = draw_number();
	desc[3] = draw(256);
	return desc;
}

/* The argument of the old mmap. */
static void *draw_mapping(void)
{
	static uint32_t words[NR_ARGS];
	static const char letters[] = "aARMfo";

	for (int i = 0; i < NR_ARGS; i++)
		words[i] = draw_one(letters[i]);
	return words;
}

static void *draw_strings(void)
{
	static char *strings[8];

	for (int i = 0; i < 7; i++)
		strings[i] = draw(32) ? (char *)own_paths[draw(6)]
				      : (char *)(uintptr_t)draw_wild_address();
	strings[draw(7)] = NULL;
	return strings;
}

static uint32_t draw_struct(char letter)
{
	switch (letter) {
	case 'G':
		return (uintptr_t)draw_action();
	case 'g':
		return (uintptr_t)draw_signals();
	case 'T':
	case 'V':
	case 'E':
		return draw(8) ? (uintptr_t)draw_times(letter) : 0;
	case '^':
		return draw(8) ? (uintptr_t)draw_long_times() : 0;
	case 'i':
		return (uintptr_t)draw_vector();
	case 'L':
		return (uintptr_t)draw_polled();
	case 'U':
		return (uintptr_t)draw_descriptor();
	case 'r':
		return (uintptr_t)draw_mapping();
	case 'c':
		return draw(4) ? (uintptr_t)draw_strings() : 0;
	default:
		return draw(4) ? (uintptr_t)draw_lock() : draw_number();
	}
}

static uint32_t draw_path(char letter)
{
	switch (letter) {
	case 'q':
		if (!draw(3))
			return PICK(other_paths);
		/* fall through */
	case 'p':
		return draw(2) ? (uintptr_t)own_paths[draw(12)] : PICK(own_paths);
	case 'x':
		return PICK(programs);
	case 'v':
		return PICK(sources);
	case '/':
		return PICK(places);
	case 'y':
		return PICK(types);
	default:
		return PICK(areas);
	}
}

static uint32_t draw_set(char letter)
{
	const struct set *set = sets;
	uint32_t value;

	while (set->letter != letter)
		set++;
	value = set->values[draw(set->nr)];
	while (set->mix && draw(2))
		value |= set->values[draw(set->nr)];
	return value;
}

static uint32_t draw_one(char letter)
{
	switch (letter) {
	case 'n':
		return draw_number();
	case 'f':
		return draw_fd();
	case '<': /* most of them are also locked by other workers */
		return draw(3) ? 3 + draw(5) : draw_fd();
	case '~':
		return draw(3) ? CONSOLE_FD : draw_fd();
	case 'N':
		return 8 + draw(20);
	case 'd':
		return draw(3) ? (uint32_t)AT_FDCWD : draw_fd();
	case 'b':
		return draw_buffer();
	case 'a':
		return draw_page();
	case 'A':
		return draw_range();
	case 'P':
		return draw_pid();
	case 'C':
		return draw(2) ? draw_pid() : (uint32_t)-1;
	case 'B':
		return draw(2) ? ((uintptr_t)end + draw(HEAP_PAGES) * PAGE_SIZE_BYTES) : 0;
	case '@':
		return last_attached[draw(ARRAY_SIZE(last_attached))];
	case 'j':
		return last_segments[draw(ARRAY_SIZE(last_segments))];
	default:
		return strchr("pqxv/yw", letter)        ? draw_path(letter)
		       : strchr("GgTVE^iLUrc+", letter) ? draw_struct(letter)
							: draw_set(letter);
	}
}

/* May this argument be wild? Not if it names a signal's target, or something outside that is changed, or a user: then
 * getuid could return what looks like an error. */
static bool may_be_wild(char letter)
{
	return !strchr("PDt&", letter);
}

void draw_args(const struct kind *kind, uint32_t *args)
{
	for (int i = 0; kind->args[i]; i++) {
		char letter = kind->args[i];

		args[i] = draw_one(letter);
		if (draw(WILD_ONE_IN) || !may_be_wild(letter))
			continue;
		args[i] = strchr("pqxv/ywbaGgTVE^iLUrc+", letter) ? draw_wild_address()
								  : PICK(numbers);
	}
}
