/*
 * work CASE: a few system calls of one kind, for a machine in which one event fails. It ends with 0, or
 * with the errno of the first call that failed; with 99, and a line that says where, if something is
 * otherwise than what had been acknowledged before. A second run finds, and removes, what is left of
 * one that failed.
 */
#include "lab.h"
#include <poll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/swap.h>

#define HELP "usage: work CASE\n"
#define PAGE 4096u
#define LOST 99
#define SWAPPED 80

/* The call succeeds, or its errno is the program's end. */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		if ((long)(call) == -1)                                                            \
			_exit(errno);                                                              \
	} while (0)

/* Something that cannot fail in this way has gone wrong. */
#define HOLDS(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			printf("work: line %d: %s (errno %d)\n", __LINE__, #what, errno);          \
			exit(LOST);                                                                \
		}                                                                                  \
	} while (0)

/* All of it; what stops it is the program's end. */
static void write_all(int fd, const char *from, size_t size)
{
	for (ssize_t n; size; size -= n, from += n) {
		TRY(n = write(fd, from, size));
		HOLDS(n);
	}
}

static void wait_for(pid_t pid)
{
	int status;

	HOLDS(waitpid(pid, &status, 0) == pid);
	if (status)
		_exit(status_code(status));
}

static void fill(char *at, size_t size, int seed)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (char)(seed + i * 7 + i / 256);
}

static bool filled(const char *at, size_t size, int seed)
{
	for (size_t i = 0; i < size; i++)
		if (at[i] != (char)(seed + i * 7 + i / 256))
			return false;
	return true;
}

/* A child shares memory, changes some, and ends; what is the parent's stays as it was. */
static void do_fork(void)
{
	char *at = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	TRY((long)at);
	fill(at, 8 * PAGE, 1);
	TRY(pid = fork());
	if (!pid) {
		HOLDS(filled(at, 8 * PAGE, 1));
		fill(at, 4 * PAGE, 2);
		HOLDS(filled(at, 4 * PAGE, 2));
		_exit(0);
	}
	fill(at + 6 * PAGE, PAGE, 6);
	wait_for(pid);
	HOLDS(filled(at, 4 * PAGE, 1));
	TRY(munmap(at, 8 * PAGE));
}

static void exec_in_child(const char *path)
{
	char *argv[] = { "true", "some", "words", NULL };
	pid_t pid = fork();

	TRY(pid);
	if (!pid) {
		execve(path, argv, argv);
		_exit(errno);
	}
	wait_for(pid);
}

static void do_exec(void)
{
	exec_in_child("/bin/true");
}

static void do_mmap(void)
{
	char *at =
		mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *far;

	TRY((long)at);
	fill(at, 16 * PAGE, 3);
	TRY(mprotect(at + 2 * PAGE, PAGE, PROT_READ));
	TRY(munmap(at + 8 * PAGE, PAGE));
	TRY(mlock(at, PAGE));
	HOLDS(filled(at, 8 * PAGE, 3));
	far = mmap((void *)0x50000000, 3 * PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	TRY((long)far);
	fill(far, 3 * PAGE, 4);
	TRY(munlock(at, PAGE));
	TRY(mprotect(at + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE));
	TRY(madvise(far, PAGE, MADV_DONTNEED));
	HOLDS(!far[0] && filled(at, 8 * PAGE, 3));
	TRY(-!(at = malloc(5 * PAGE)));
	fill(at, 5 * PAGE, 13);
	free(at);
	TRY(munmap(far, 3 * PAGE));
}

/* Names and contents in a directory of whatever file system. */
static void names(void)
{
	char piece[PAGE + 100], back[PAGE + 100];
	struct stat st;
	DIR *dir;
	int fd;

	TRY(mkdir("d", 0755));
	TRY(fd = open("d/a", O_CREAT | O_EXCL | O_RDWR, 0644));
	fill(piece, sizeof(piece), 5);
	for (int i = 0; i < 20; i++)
		write_all(fd, piece, sizeof(piece));
	TRY(lseek(fd, 19 * sizeof(piece), SEEK_SET));
	TRY(read(fd, back, sizeof(back)));
	HOLDS(!memcmp(piece, back, sizeof(back)));
	TRY(ftruncate(fd, 3 * PAGE + 10));
	TRY(fsync(fd));
	TRY(close(fd));
	TRY(link("d/a", "d/b"));
	TRY(rename("d/b", "c"));
	TRY(symlink("a-rather-long-name-that-does-not-fit-into-an-inode-of-the-file-system-itself",
		    "d/s"));
	TRY(readlink("d/s", back, sizeof(back)));
	TRY(stat("d/../d/a", &st));
	HOLDS(st.st_size == 3 * PAGE + 10 && st.st_nlink == 2);
	TRY(-!(dir = opendir("d")));
	while (errno = 0, readdir(dir))
		;
	TRY(-!!errno);
	closedir(dir);
	TRY(unlink("d/s"));
	TRY(unlink("d/a"));
	TRY(rmdir("d"));
	TRY(unlink("c"));
}

/* What a run that failed has left; none of it need be there. */
static void remove_names(void)
{
	unlink("d/s");
	unlink("d/a");
	unlink("d/b");
	unlink("c");
	unlink("f");
	rmdir("d");
}

static void do_ramfs(void)
{
	HOLDS(!chdir("/tmp"));
	remove_names();
	names();
}

static void do_tmpfs(void)
{
	mkdir("/tmp/m", 0755);
	umount("/tmp/m");
	TRY(mount("none", "/tmp/m", "tmpfs", 0, "size=1M"));
	TRY(chdir("/tmp/m"));
	names();
	TRY(chdir("/"));
	TRY(umount("/tmp/m"));
}

static void do_shm(void)
{
	char piece[600];
	int id, fd;
	char *at;

	TRY(id = shmget(IPC_PRIVATE, 5 * PAGE, IPC_CREAT | 0600));
	at = shmat(id, NULL, 0);
	if (at == (void *)-1) {
		int why = errno;

		HOLDS(!shmctl(id, IPC_RMID, NULL));
		_exit(why);
	}
	HOLDS(!shmctl(id, IPC_RMID, NULL));
	fill(at, 5 * PAGE, 7);
	TRY(fd = memfd_create("m", 0));
	TRY(ftruncate(fd, 4 * PAGE));
	fill(piece, sizeof(piece), 8);
	TRY(lseek(fd, PAGE - 300, SEEK_SET));
	write_all(fd, piece, sizeof(piece));
	HOLDS(filled(at, 5 * PAGE, 7));
	TRY(shmdt(at));
	at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	TRY((long)at);
	at[3 * PAGE] = 1;
	HOLDS(filled(at + PAGE - 300, sizeof(piece), 8));
	at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	TRY((long)at);
	fill(at, 4 * PAGE, 9);
	HOLDS(filled(at, 4 * PAGE, 9));
}

/* More than a pipe takes at once goes through it. */
static void do_pipe(void)
{
	static char sent[40000], got[40000];
	struct pollfd wanted;
	int end[2], fd;
	pid_t pid;

	TRY(pipe(end));
	TRY(pid = fork());
	if (!pid) {
		fill(sent, sizeof(sent), 10);
		write_all(end[1], sent, sizeof(sent));
		_exit(0);
	}
	close(end[1]);
	for (ssize_t n, used = 0; used < (ssize_t)sizeof(got); used += n) {
		n = read(end[0], got + used, sizeof(got) - used);
		TRY(n);
		if (!n)
			wait_for(pid);
		HOLDS(n);
	}
	wait_for(pid);
	HOLDS(filled(got, sizeof(got), 10));
	unlink("/tmp/fifo");
	TRY(mkfifo("/tmp/fifo", 0600));
	TRY(fd = open("/tmp/fifo", O_RDWR));
	TRY(write(fd, got, 100));
	wanted = (struct pollfd){ .fd = fd, .events = POLLIN };
	TRY(poll(&wanted, 1, 0));
	TRY(unlink("/tmp/fifo"));
}

/* The call has an error of its own for what others call ENOMEM. */
static int set_lock(int fd, struct flock *lock)
{
	int done = fcntl(fd, F_SETLK, lock);

	if (done && errno == ENOLCK)
		errno = ENOMEM;
	return done;
}

static void do_proc(void)
{
	static const char *const files[] = { "/proc/meminfo", "/proc/self/maps", "/proc/self/stat",
					     "/proc/self/cmdline", "/proc/params" };
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 10 };
	char buf[300];
	int fd, other;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		TRY(fd = open(files[i], O_RDONLY));
		TRY(read(fd, buf, sizeof(buf)));
		close(fd);
	}
	TRY(-!getcwd(buf, sizeof(buf)));
	TRY(fd = open("/tmp/lock", O_CREAT | O_RDWR, 0600));
	TRY(other = dup(fd));
	TRY(set_lock(fd, &lock));
	lock.l_start = 13;
	lock.l_len = 3;
	lock.l_type = F_UNLCK;
	TRY(set_lock(other, &lock));
	for (int i = 0; i < 40; i++)
		TRY(dup(fd));
	TRY(unlink("/tmp/lock"));
}

/* A call is made again when it has failed; the second time it is the program's end. */
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

/* What write has taken is there, on the disk too, whatever failed in between. */
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

/* The run after a failed one, which fails no more, first takes away what is there. */
static void do_moves(void)
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

static void do_ext2(void)
{
	on_ext2(names);
}

static void do_kept(void)
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

static void do_mapped(void)
{
	on_ext2(mapped);
}

/* More memory than frames=60 lets it have: each page leaves, and comes back. */
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

/* They go to an area that is switched on, and come back from it when it is switched off. */
static void do_swap(void)
{
	char *at;

	swapoff("/dev/sda");
	TRY(swapon("/dev/sda", SWAP_FLAG_PREFER | 7));
	at = mmap(NULL, SWAPPED * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TRY((long)at);
	use_memory(at);
	TRY(swapoff("/dev/sda"));
}

/* Two share what they had, and each changes its own; none of it is the other's. */
static void do_pressure(void)
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

/* Shared memory leaves for the swap area, and comes back for read, write and mappings alike. */
static void do_shmswap(void)
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
	for (int i = 0; i < PAGES; i += 2)
		HOLDS(filled(at + i * PAGE, 64, i));
	for (int i = 1; i < PAGES; i += 2) {
		TRY(pread(fd, piece, 64, i * PAGE));
		HOLDS(filled(piece, 64, i));
	}
	TRY(ftruncate(fd, PAGE));
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "fork", do_fork },   { "exec", do_exec },         { "mmap", do_mmap },
	{ "ramfs", do_ramfs }, { "tmpfs", do_tmpfs },       { "shm", do_shm },
	{ "pipe", do_pipe },   { "proc", do_proc },         { "ext2", do_ext2 },
	{ "kept", do_kept },   { "mapped", do_mapped },     { "moves", do_moves },
	{ "swap", do_swap },   { "pressure", do_pressure }, { "shmswap", do_shmswap },
};

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	usage_error(HELP);
}
