/*
 * shm: does shared memory behave as on Linux? Anonymous memory after a fork, memfd_create, System V
 * segments, and files: in the given folder, or only in that of memfd. Linux is the oracle: no
 * failures there.
 */
#include "check.h"
#include <setjmp.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#define HELP                                                                                       \
	"usage: shm [DIR]\n"                                                                       \
	"Compare shared memory with Linux; files below DIR, too. checks= made, failures=\n"        \
	"answers that differ; exit status 1 if there are any.\n"

enum { PAGE = 4096, PAGES = 8 };

static sigjmp_buf after_fault;
static volatile sig_atomic_t caught;

static void on_fault(int sig)
{
	caught = sig;
	siglongjmp(after_fault, 1);
}

/* Returns the signal caused by reading or writing the byte, or 0. */
static int signal_of(volatile char *at, bool write)
{
	caught = 0;
	if (!sigsetjmp(after_fault, 1)) {
		if (write)
			*at = 1;
		else
			(void)*at;
	}
	return caught;
}

static void in_child(void (*test)(char *), char *memory)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		nr_failures = 0;
		test(memory);
		_exit(nr_failures);
	}
	waitpid(child, &status, 0);
	nr_checks++;
	nr_failures += WEXITSTATUS(status) + WIFSIGNALED(status);
}

static bool is_zero(const char *at, size_t n)
{
	while (n && !*at)
		at++, n--;
	return !n;
}

/* Memory shared after a fork. */

static void write_in_child(char *memory)
{
	CHECK(memory[0] == 'p' && memory[PAGE] == 0);
	memory[0] = 'c';
	memory[PAGE] = 'C';
	CHECK(!munmap(memory + 2 * PAGE, PAGE));
}

static void test_anonymous(void)
{
	char *memory =
		mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED && is_zero(memory + 3 * PAGE, PAGE));
	memory[0] = 'p';
	in_child(write_in_child, memory);
	CHECK(memory[0] == 'c' && memory[PAGE] == 'C' && !memory[2 * PAGE]);
	CHECK(!madvise(memory, PAGE, MADV_DONTNEED) &&
	      memory[0] == 'c'); /* the page belongs to the file */
	CHECK(!mlock(memory, 2 * PAGE) && !munlock(memory, 2 * PAGE));
	CHECK(!mprotect(memory, PAGE, PROT_READ) && signal_of(memory, true) == SIGSEGV &&
	      memory[0] == 'c');
	CHECK(!mprotect(memory, PAGE, PROT_READ | PROT_WRITE) && !signal_of(memory, true));
	CHECK(!munmap(memory, PAGES * PAGE) && signal_of(memory, false) == SIGSEGV);
	FAILS(mmap(NULL, 0, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0), EINVAL);
}

/* Files. */

static void test_end_of_file(int fd, char *memory)
{
	struct stat st;

	CHECK(!ftruncate(fd, 2 * PAGE) && !fstat(fd, &st) && st.st_size == 2 * PAGE);
	memset(memory, 'x', 2 * PAGE);
	CHECK(signal_of(memory + 2 * PAGE, false) == SIGBUS &&
	      signal_of(memory + 3 * PAGE, true) == SIGBUS);
	CHECK(!ftruncate(fd, PAGE + 10) && signal_of(memory + PAGE + 10, false) == 0);
	CHECK(memory[PAGE + 9] == 'x' && is_zero(memory + PAGE + 10, PAGE - 10));
	CHECK(!ftruncate(fd, 10) && signal_of(memory + PAGE, true) == SIGBUS);
	CHECK(!ftruncate(fd, 2 * PAGE) && memory[9] == 'x');
	CHECK(is_zero(memory + 10, 2 * PAGE - 10));
	CHECK(!ftruncate(fd, 0) && !fstat(fd, &st) && st.st_size == 0 && st.st_blocks == 0);
}

static void test_reading_and_writing(int fd, char *memory)
{
	char buf[PAGE + 100];
	struct stat st;

	CHECK(pwrite(fd, "hello", 5, 3 * PAGE - 2) == 5 &&
	      !memcmp(memory + 3 * PAGE - 2, "hello", 5));
	CHECK(!fstat(fd, &st) && st.st_size == 3 * PAGE + 3);
	CHECK(pread(fd, buf, sizeof(buf), 0) == sizeof(buf) && is_zero(buf, sizeof(buf)));
	CHECK(!fstat(fd, &st) && st.st_blocks == 16); /* reading does not fill a hole */
	memory[PAGE] = 'm';
	CHECK(pread(fd, buf, 2, PAGE) == 2 && buf[0] == 'm' && !buf[1]);
	CHECK(pread(fd, buf, 100, 3 * PAGE) == 3 && pread(fd, buf, 100, 3 * PAGE + 3) == 0);
	CHECK(lseek(fd, 0, SEEK_END) == 3 * PAGE + 3);
}

static void test_private(int fd, const char *shared)
{
	char *own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	CHECK(own != MAP_FAILED && pwrite(fd, "ab", 2, 0) == 2 && own[0] == 'a');
	own[0] = 'o';
	CHECK(shared[0] == 'a' && own[0] == 'o' && own[1] == 'b');
	munmap(own, PAGE);
}

static void test_file(int fd)
{
	char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(memory != MAP_FAILED);
	test_end_of_file(fd, memory);
	test_reading_and_writing(fd, memory);
	test_private(fd, memory);
	CHECK(!close(fd) && memory[0] == 'a'); /* a mapping keeps the file alive */
	munmap(memory, PAGES * PAGE);
}

static int memfd(const char *name, unsigned flags)
{
	return syscall(SYS_memfd_create, name, flags);
}

static void test_memfd(void)
{
	char name[252];
	int fd = memfd("name", 0), cloexec = memfd("", 1);
	struct stat st;

	CHECK(fd >= 0 && cloexec >= 0 && fcntl(fd, F_GETFD) == 0 &&
	      fcntl(cloexec, F_GETFD) == FD_CLOEXEC);
	CHECK(!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size == 0 && st.st_nlink == 0);
	CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
	close(cloexec);
	memset(name, 'n', sizeof(name));
	name[250] = '\0';
	FAILS(memfd(name, 0), EINVAL);
	FAILS(memfd("name", 0x80), EINVAL);
	FAILS(memfd((const char *)8, 0), EFAULT);
	name[249] = '\0';
	CHECK(!close(memfd(name, 0)));
	test_file(fd);
}

/* System V. */

static void detach_in_child(char *memory)
{
	struct shmid_ds ds;
	int id = *(int *)memory;

	CHECK(!shmctl(id, IPC_STAT, &ds) && ds.shm_nattch == 2); /* inherited */
	memory[PAGE] = 'c';
	CHECK(!shmdt(memory) && !shmctl(id, IPC_STAT, &ds) && ds.shm_nattch == 1);
	CHECK(signal_of(memory, false) == SIGSEGV);
}

static void test_segment(int id)
{
	char *memory = shmat(id, NULL, 0), *again = shmat(id, NULL, SHM_RDONLY);
	struct shmid_ds ds;

	CHECK(memory != (void *)-1 && again != (void *)-1 && again != memory);
	*(int *)memory = id;
	CHECK(*(int *)again == id && signal_of(again, true) == SIGSEGV);
	CHECK(!shmctl(id, IPC_STAT, &ds) && ds.shm_nattch == 2 && ds.shm_segsz == 2 * PAGE + 1);
	CHECK(ds.shm_perm.mode == 0600 && ds.shm_cpid == getpid() && ds.shm_lpid == getpid());
	FAILS(mprotect(again, PAGE, PROT_READ | PROT_WRITE), EACCES);
	CHECK(!shmdt(again));
	FAILS(shmdt(again), EINVAL);
	FAILS(shmat(id, memory, 0), EINVAL); /* the address is in use */
	in_child(detach_in_child, memory);
	CHECK(memory[PAGE] == 'c' && is_zero(memory + 2 * PAGE, PAGE));
	CHECK(!shmctl(id, IPC_RMID, NULL) && memory[PAGE] == 'c');
	CHECK(!shmctl(id, IPC_STAT, &ds) && ds.shm_perm.mode == (0600 | 01000) &&
	      ds.shm_nattch == 1);
	again = shmat(id, NULL, 0);
	CHECK(again != (void *)-1 && again[PAGE] == 'c' && !shmdt(again));
	CHECK(!shmdt(memory));
	FAILS(shmctl(id, IPC_STAT, &ds), EINVAL);
	FAILS(shmat(id, NULL, 0), EINVAL);
}

static void test_system_v(void)
{
	key_t key = 0x7d3a0000 + getpid();
	struct shmid_ds ds;
	int id;

	FAILS(shmget(key, PAGE, 0600), ENOENT);
	FAILS(shmget(key, 0, IPC_CREAT | 0600), EINVAL);
	id = shmget(key, 2 * PAGE + 1, IPC_CREAT | IPC_EXCL | 0600);
	CHECK(id >= 0 && shmget(key, 0, 0) == id && shmget(key, PAGE, IPC_CREAT) == id);
	FAILS(shmget(key, PAGE, IPC_CREAT | IPC_EXCL | 0600), EEXIST);
	FAILS(shmget(key, 3 * PAGE, 0), EINVAL);
	FAILS(shmat(id, (void *)(PAGE + 1), 0), EINVAL);
	FAILS(shmctl(id, 77, &ds), EINVAL);
	test_segment(id);
	FAILS(shmget(key, PAGE, 0600), ENOENT);
	id = shmget(IPC_PRIVATE, PAGE, 0600);
	CHECK(id >= 0 && !shmctl(id, IPC_STAT, &ds) && ds.shm_nattch == 0 && ds.shm_lpid == 0);
	ds.shm_perm.mode = 0640;
	CHECK(!shmctl(id, IPC_SET, &ds) && !shmctl(id, IPC_STAT, &ds) && ds.shm_perm.mode == 0640);
	CHECK(!shmctl(id, IPC_RMID, NULL));
	FAILS(shmctl(id, IPC_RMID, NULL), EINVAL);
	FAILS(shmdt((void *)PAGE), EINVAL);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_fault };
	char path[256];

	help_if_asked(argc, argv, HELP);
	if (argc > 2)
		usage_error(HELP);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	test_anonymous();
	test_memfd();
	test_system_v();
	if (argc > 1) {
		snprintf(path, sizeof(path), "%s/shm.tmp", argv[1]);
		test_file(open(path, O_RDWR | O_CREAT | O_TRUNC, 0600));
		CHECK(!unlink(path));
	}
	return check_report("shm");
}
