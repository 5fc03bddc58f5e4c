/*
 * Everything that a program can do to files. Each call may fail with any error; access to mapped pages may cause
 * SIGBUS. Only this is forbidden: endless directories, calls that return more than was asked for, calls that never
 * return.
 */
#include "hostile.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/swap.h>
#include <sys/time.h>

enum { DEPTH = 5, MOST_ENTRIES = 20000, MOST_LOOKS = 150, PAGE = 4096, PRESSURE = 6 << 20 };

static sigjmp_buf out;
static uint32_t looks; /* remaining looks: a damaged directory may contain itself */
static char bytes[3 * PAGE];

static void on_bus(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

static void touch_page(volatile char *at, bool write)
{
	if (sigsetjmp(out, 1))
		return;
	if (write)
		at[below(PAGE)] = 'm';
	else
		(void)at[0];
}

static void touch(char *at, size_t pages, bool write)
{
	for (size_t i = 0; i < pages; i++)
		touch_page(at + i * PAGE, write);
}

/* Uses a mapping that is larger than the file may be. */
static void map_file(int fd, bool write)
{
	int how = below(2) ? MAP_SHARED : MAP_PRIVATE, prot = PROT_READ | (write ? PROT_WRITE : 0);
	size_t pages = 1 + below(6);
	char *at = mmap(NULL, pages * PAGE, prot, how, fd,
			(off_t)PAGE * (below(4) ? below(8) : below(1 << 20)));

	if (at == MAP_FAILED)
		return;
	touch(at, pages, false);
	if (write)
		touch(at, pages, true);
	if (below(2))
		msync(at, pages * PAGE, MS_SYNC);
	munmap(at, pages * PAGE);
}

static void read_at(int fd, off_t at)
{
	ssize_t n = pread(fd, bytes, sizeof(bytes), at);

	if (n > (ssize_t)sizeof(bytes))
		fail("a read of %zu bytes returned %zd", sizeof(bytes), n);
}

static void read_some(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return;
	for (int i = 0; i < 4; i++)
		read_at(fd, (off_t)i * (off_t)sizeof(bytes));
	for (int bit = 13; bit < 33; bit += 1 + (int)below(5))
		read_at(fd, (off_t)1 << bit);
	map_file(fd, false);
	close(fd);
}

static void look_in(const char *path, int depth);

static void look_at(const char *path, int depth)
{
	struct stat st;

	if (!looks || lstat(path, &st))
		return;
	looks--;
	if (S_ISDIR(st.st_mode) && depth < DEPTH)
		look_in(path, depth + 1);
	else if (S_ISLNK(st.st_mode) &&
		 readlink(path, bytes, sizeof(bytes)) > (ssize_t)sizeof(bytes))
		fail("%s: a link longer than its buffer", path);
	else if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		read_some(path);
}

static void look_in(const char *path, int depth)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int entries = 0;

	while (dir && (e = readdir(dir))) {
		char name[4096];

		if (++entries > MOST_ENTRIES)
			fail("%s: a directory without an end", path);
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!*e->d_name || strchr(e->d_name, '/'))
			fail("%s: a name that can be none", path);
		if (snprintf(name, sizeof(name), "%s/%s", path, e->d_name) < (int)sizeof(name))
			look_at(name, depth);
	}
	if (dir)
		closedir(dir);
}

/* Returns the path of a file that was in the image before it was damaged, or was made since. */
static const char *some_path(void)
{
	static char paths[4][32];
	static uint32_t next;
	static const char *const forms[] = { "f%u",   "dir/f%u",   "dir/deep/f%u",
					     "new%u", "dir/new%u", "moved%u" };
	static const char *const others[] = { "dir",    "dir/deep", "fast",       "slow",
					      "sparse", ".",        "lost+found", "prog" };
	char *path = paths[next++ % 4];

	if (below(4) == 0)
		return others[below(ARRAY_SIZE(others))];
	snprintf(path, sizeof(paths[0]), forms[below(ARRAY_SIZE(forms))], below(8));
	return path;
}

static void write_file(void)
{
	static const int ways[] = { 0, O_CREAT, O_CREAT | O_TRUNC, O_APPEND, O_CREAT | O_SYNC };
	int fd = open(some_path(), O_RDWR | O_NONBLOCK | ways[below(ARRAY_SIZE(ways))], 0644);
	off_t far = (off_t)below(1 << 20) << below(13);

	if (fd < 0)
		return;
	memset(bytes, 'w', sizeof(bytes));
	if (pwrite(fd, bytes, 1 + below(sizeof(bytes)), below(3) ? below(1 << 17) : far) >
	    (ssize_t)sizeof(bytes))
		fail("a write returned more than it was given");
	(void)!write(fd, bytes, below(5000));
	if (below(3) == 0)
		(void)!ftruncate(fd, below(2) ? below(1 << 18) : far);
	if (below(2))
		map_file(fd, true);
	if (below(4) == 0)
		fsync(fd);
	if (below(8) == 0)
		unlink(some_path()); /* perhaps the file itself, while it is open */
	close(fd);
}

/* The program's text comes from the image, page by page; after damage it may run for ever. */
static void run_program(void)
{
	const struct itimerval limit = { .it_value.tv_usec = 20000 };
	pid_t pid = fork();
	int status;

	if (!pid) {
		setitimer(ITIMER_REAL, &limit, NULL);
		execl("prog", "prog", NULL);
		_exit(1);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
}

static void swap_file(void)
{
	if (below(4) == 0 && !swapon("swap", 0))
		swapoff("swap");
}

/* Uses more memory than there is, so that pages of the image are evicted while it is in use. */
static void press(void)
{
	char *at = mmap(NULL, PRESSURE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (below(6) || at == MAP_FAILED)
		return;
	touch(at, PRESSURE / PAGE, true);
	munmap(at, PRESSURE);
}

static void change_name(void)
{
	const char *a = some_path(), *b = some_path();
	struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 2 } };

	switch (below(11)) {
	case 0:
		mkdir(a, 0755);
		break;
	case 1:
		rmdir(a);
		break;
	case 2:
		(void)!link(a, b);
		break;
	case 3:
		(void)!symlink(
			below(2)
				? a
				: "a-target-that-is-longer-than-sixty-bytes-so-that-it-needs-a-block",
			b);
		break;
	case 4:
		mknod(a, S_IFIFO | 0600, 0);
		break;
	case 5:
		chmod(a, below(07777));
		break;
	case 6:
		utimensat(AT_FDCWD, a, times, 0);
		break;
	case 7:
	case 8:
		unlink(a);
		break;
	default:
		rename(a, b);
		break;
	}
}

static void whole_system(void)
{
	static const unsigned long ways[] = { 0, MS_RDONLY };
	struct statfs st;

	switch (below(5)) {
	case 0:
		sync();
		break;
	case 1:
		statfs(".", &st);
		break;
	case 2:
		mount(NULL, DIR_PATH, NULL, MS_REMOUNT | ways[below(2)], NULL);
		break;
	case 3:
		run_program();
		break;
	default:
		swap_file();
		break;
	}
}

void use_files(void)
{
	struct sigaction act = { .sa_handler = on_bus };

	sigaction(SIGBUS, &act, NULL);
	if (chdir(DIR_PATH))
		return;
	looks = MOST_LOOKS;
	look_in(".", 0);
	run_program();
	for (uint32_t n = 10 + below(40); n; n--) {
		uint32_t what = below(10);

		if (what < 4)
			write_file();
		else if (what < 9)
			change_name();
		else
			whole_system();
	}
	press();
	looks = MOST_LOOKS;
	look_in(".", 0);
}
