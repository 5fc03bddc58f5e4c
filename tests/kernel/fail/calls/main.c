/*
 * calls CASE: a few system calls of one kind, for a machine in which one event fails. It ends with 0, or
 * with the errno of the first call that failed; or with 99 and a line about the place, if something
 * differs from what had been acknowledged before. A second run finds, and removes, what a failed run
 * left.
 */
#include "calls.h"
#include <poll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/select.h>
#include <sys/shm.h>

#define HELP "usage: calls CASE\n"

/* Writes all bytes; an error ends the program. */
void write_all(int fd, const char *from, size_t size)
{
	for (ssize_t n; size; size -= n, from += n) {
		TRY(n = write(fd, from, size));
		HOLDS(n);
	}
}

void wait_for(pid_t pid)
{
	int status;

	HOLDS(waitpid(pid, &status, 0) == pid);
	if (status)
		_exit(status_code(status));
}

void fill(char *at, size_t size, int seed)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (char)(seed + i * 7 + i / 256);
}

bool filled(const char *at, size_t size, int seed)
{
	for (size_t i = 0; i < size; i++)
		if (at[i] != (char)(seed + i * 7 + i / 256))
			return false;
	return true;
}

/* A child shares memory, changes some, and ends; the parent's memory stays the same. */
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

void exec_in_child(const char *path)
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

/* Names and contents in a directory of any file system. */
void names(void)
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

/* Removes what a failed run has left; none of it need exist. */
void remove_names(void)
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

/* Sends more through a pipe than it takes at once. */
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

/* The call returns an error of its own where others return ENOMEM. */
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

/* Grows the table of descriptors. If it cannot grow, the open files are what they were. */
static void do_descriptors(void)
{
	static struct pollfd wanted[200];
	fd_set set;
	int fd, n;
	pid_t pid;

	TRY(fd = open("/bin/true", O_RDONLY));
	while ((n = dup(fd)) >= 0 && n < 300)
		;
	HOLDS(n == 300 || errno == ENOMEM);
	HOLDS(lseek(63, 0, SEEK_CUR) == 0);
	TRY(n);
	TRY(dup2(fd, 1000));
	TRY(pid = fork());
	if (!pid)
		_exit(lseek(1000, 0, SEEK_CUR) || close(1000) ? errno : 0);
	wait_for(pid);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		wanted[i] = (struct pollfd){ .fd = i, .events = POLLIN };
	TRY(n = poll(wanted, ARRAY_SIZE(wanted), 0));
	HOLDS(n >= 190);
	FD_ZERO(&set);
	FD_SET(1000, &set);
	TRY(n = select(1001, &set, NULL, NULL, NULL));
	HOLDS(n == 1 && FD_ISSET(1000, &set));
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "fork", do_fork },
	{ "exec", do_exec },
	{ "mmap", do_mmap },
	{ "huge", do_huge },
	{ "hugedirect", do_hugedirect },
	{ "ramfs", do_ramfs },
	{ "tmpfs", do_tmpfs },
	{ "shm", do_shm },
	{ "pipe", do_pipe },
	{ "proc", do_proc },
	{ "ext2", do_ext2 },
	{ "kept", do_kept },
	{ "mapped", do_mapped },
	{ "moves", do_moves },
	{ "direct", do_direct },
	{ "swap", do_swap },
	{ "pressure", do_pressure },
	{ "shmswap", do_shmswap },
	{ "descriptors", do_descriptors },
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
