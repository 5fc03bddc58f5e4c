/* Cases of calls with a disk: files on ext2, and memory that is swapped out. */
#include "calls.h"
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/swap.h>

/* Repeats a call that has failed; a second failure ends the program. */
#define AGAIN(call)                                                                                \
	({                                                                                         \
		long done = (long)(call);                                                          \
		if (done == -1 && (errno == EIO || errno == ENOMEM))                               \
			TRY(done = (long)(call));                                                  \
		done;                                                                              \
	})

static void drop_caches(void)
{
	int fd;

	AGAIN(fd = open("/proc/sys/vm/drop_caches", O_WRONLY));
	AGAIN(write(fd, "3", 1));
	close(fd);
}

/* Data that write has accepted are in the file, also on the disk, whatever failed in between. */
static void keep(void)
{
	static char piece[60000], back[60000];
	ssize_t taken;
	int fd, err = 0;

	TRY(fd = open("f", O_CREAT | O_RDWR, 0644));
	fill(piece, sizeof(piece), 11);
	for (taken = 0; !err && taken < (ssize_t)sizeof(piece);) {
		ssize_t n = write(fd, piece + taken, sizeof(piece) - taken);

		if (n < 0)
			err = errno;
		else
			taken += n;
	}
	if (fsync(fd)) {
		err = errno;
		TRY(fsync(fd));
	}
	drop_caches();
	for (ssize_t at = 0, n; at < taken; at += n)
		HOLDS((n = AGAIN(pread(fd, back + at, taken - at, at))) > 0);
	HOLDS(filled(back, taken, 11));
	close(fd);
	if (err)
		_exit(err);
	TRY(unlink("f"));
}

static void on_ext2(void (*what)(void))
{
	mkdir("/tmp/m", 0755);
	umount("/tmp/m");
	TRY(mount("/dev/sda", "/tmp/m", "ext2", 0, ""));
	TRY(chdir("/tmp/m"));
	remove_names();
	what();
	TRY(chdir("/"));
	TRY(umount("/tmp/m"));
}

static void touch(const char *name)
{
	int fd = creat(name, 0600);

	TRY(fd);
	TRY(close(fd));
}

/* Names that replace others, directories that move, a directory of several blocks, a file with holes. */
static void moves(void)
{
	char name[80];
	int fd;

	TRY(mkdir("a", 0755));
	TRY(mkdir("a/s", 0755));
	TRY(mkdir("b", 0755));
	TRY(mkdir("e", 0755));
	touch("a/s/x");
	touch("a/y");
	TRY(rename("a/y", "a/s/x"));
	TRY(rename("a/s", "b/s"));
	TRY(rename("b/s", "e"));
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "b/%060d", i);
		touch(name);
	}
	TRY(fd = open("a/y", O_CREAT | O_RDWR, 0600));
	TRY(lseek(fd, 300000, SEEK_SET));
	write_all(fd, name, sizeof(name));
	TRY(ftruncate(fd, 280000));
	TRY(fchmod(fd, 0644));
	TRY(fchown(fd, 1, 1));
	TRY(close(fd));
	touch("a/y");
	sync();
}

/* A failed run has left some of it. */
static void remove_moves(void)
{
	static const char *const dirs[] = { "a/s", "a", "b/s", "b", "e" };
	char name[80];

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		for (int n = -2; n < 20; n++) {
			snprintf(name, sizeof(name), "%s/%s%060d", dirs[i], "", n);
			if (n < 0)
				snprintf(name, sizeof(name), "%s/%c", dirs[i], n == -1 ? 'x' : 'y');
			if (unlink(name) && errno != ENOENT)
				_exit(errno);
		}
		if (rmdir(dirs[i]) && errno != ENOENT)
			_exit(errno);
	}
}

/* The run after a failed one, in which nothing fails, first removes what it finds. */
void do_moves(void)
{
	mkdir("/tmp/m", 0755);
	umount("/tmp/m");
	TRY(mount("/dev/sda", "/tmp/m", "ext2", 0, ""));
	TRY(chdir("/tmp/m"));
	if (!access("a", F_OK) || !access("b", F_OK) || !access("e", F_OK))
		remove_moves();
	moves();
	remove_moves();
	TRY(chdir("/"));
	TRY(umount("/tmp/m"));
}

void do_ext2(void)
{
	on_ext2(names);
}

void do_kept(void)
{
	on_ext2(keep);
}

/* A file that is written through a mapping, and a program that is run from the disk. */
static void mapped(void)
{
	int fd;
	char *at;

	TRY(fd = open("f", O_CREAT | O_RDWR, 0644));
	TRY(ftruncate(fd, 6 * PAGE));
	at = mmap(NULL, 6 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	TRY((long)at);
	fill(at, 6 * PAGE, 12);
	TRY(fsync(fd));
	HOLDS(filled(at, 6 * PAGE, 12));
	TRY(munmap(at, 6 * PAGE));
	TRY(close(fd));
	drop_caches();
	exec_in_child("/tmp/m/true");
	TRY(unlink("f"));
}

void do_mapped(void)
{
	on_ext2(mapped);
}

static void move_all(int fd, char *at, ssize_t size, off_t place, bool write)
{
	for (ssize_t done = 0, n; done < size; done += n)
		TRY(n = write ? pwrite(fd, at + done, size - done, place + done)
			      : pread(fd, at + done, size - done, place + done));
}

/* Past the cache: overwriting, behind the end, into a hole; and together with a mapping. */
static void direct(void)
{
	static char piece[16 * PAGE] __attribute__((aligned(PAGE))),
		back[sizeof(piece)] __attribute__((aligned(PAGE)));
	char *map;
	int fd;

	TRY(fd = open("f", O_CREAT | O_TRUNC | O_RDWR | O_DIRECT, 0644));
	fill(piece, sizeof(piece), 13);
	move_all(fd, piece, sizeof(piece), 0, true);
	move_all(fd, piece, 2 * PAGE, 20 * PAGE, true);
	move_all(fd, piece, PAGE, 17 * PAGE, true);
	move_all(fd, back, sizeof(back), 0, false);
	HOLDS(!memcmp(piece, back, sizeof(back)));
	move_all(fd, back, 2 * PAGE, 20 * PAGE, false);
	HOLDS(!memcmp(piece, back, 2 * PAGE));
	map = mmap(NULL, sizeof(piece), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	TRY((long)map);
	HOLDS(!memcmp(piece, map, sizeof(piece)));
	fill(map, sizeof(piece), 14);
	move_all(fd, back, sizeof(back), 0, false);
	HOLDS(filled(back, sizeof(back), 14));
	move_all(fd, piece, sizeof(piece), 0, true);
	HOLDS(!memcmp(piece, map, sizeof(piece)));
	TRY(munmap(map, sizeof(piece)));
	TRY(close(fd));
	TRY(unlink("f"));
}

void do_direct(void)
{
	on_ext2(direct);
}

/* Uses more memory than frames=60 allows: each page is swapped out and in. */
static void use_memory(char *at)
{
	enum { PAGES = SWAPPED };

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < PAGES; i++)
			fill(at + i * PAGE, 8, i + round);
		for (int i = 0; i < PAGES; i++)
			HOLDS(filled(at + i * PAGE, 8, i + round));
	}
	TRY(munmap(at, PAGES * PAGE));
}

/* Pages are swapped out to an area that is switched on, and return when it is switched off. */
void do_swap(void)
{
	char *at;

	swapoff("/dev/sda");
	TRY(swapon("/dev/sda", SWAP_FLAG_PREFER | 7));
	at = mmap(NULL, SWAPPED * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TRY((long)at);
	use_memory(at);
	TRY(swapoff("/dev/sda"));
}

/* Two processes share memory, and each changes its own copy; neither sees the other's changes. */
void do_pressure(void)
{
	enum { PAGES = 40 };
	char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	pid_t pid;

	TRY((long)at);
	for (int i = 0; i < PAGES; i++)
		fill(at + i * PAGE, 8, i);
	TRY(pid = fork());
	for (int i = 0; i < PAGES; i += 2)
		fill(at + i * PAGE, 8, pid ? i + 1 : i + 2);
	for (int i = 0; i < PAGES; i++)
		HOLDS(filled(at + i * PAGE, 8, i % 2 ? i : pid ? i + 1 : i + 2));
	if (!pid)
		_exit(0);
	wait_for(pid);
}

/* Shared memory is swapped out, and in again for read, write and mappings alike. */
void do_shmswap(void)
{
	enum { PAGES = 650 };
	static char piece[PAGE];
	char *at;
	int fd;

	TRY(fd = memfd_create("m", 0));
	for (int i = 0; i < PAGES; i++) {
		fill(piece, 64, i);
		write_all(fd, piece, PAGE);
	}
	at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	TRY((long)at);
	TRY(-!!(errno = posix_fadvise(fd, 0, 16 * PAGE, POSIX_FADV_WILLNEED)));
	for (int i = 0; i < PAGES; i += 2)
		HOLDS(filled(at + i * PAGE, 64, i));
	for (int i = 1; i < PAGES; i += 2) {
		TRY(pread(fd, piece, 64, i * PAGE));
		HOLDS(filled(piece, 64, i));
	}
	TRY(ftruncate(fd, PAGE));
}
