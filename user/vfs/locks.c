/* Locks: fcntl records between processes, their limits and deadlocks, and flock. */
#include "vfs.h"
#include <sys/file.h>

static int fd;

static int lock(int cmd, int type, int start, int len)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len };

	return fcntl(fd, cmd, &l);
}

/* Runs in a child, which counts its own failures: they come back as the exit status. */
static void in_child(void (*test)(void))
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		nr_failures = 0;
		test();
		_exit(nr_failures);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0);
}

/* Returns the first conflict that another process would meet in [start, start + len). */
static struct flock met(int type, int start, int len)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len };

	if (fcntl(fd, F_GETLK, &l))
		warn_errno("F_GETLK");
	return l;
}

static void see_middle_free(void)
{
	struct flock l = met(F_WRLCK, 0, 100);

	CHECK(l.l_type == F_WRLCK && l.l_start == 0 && l.l_len == 40 && l.l_pid == getppid());
	l = met(F_WRLCK, 50, 0);
	CHECK(l.l_start == 60 && l.l_len == 40);
	CHECK(met(F_WRLCK, 40, 20).l_type == F_UNLCK);
	CHECK(!lock(F_SETLK, F_WRLCK, 40, 20)); /* not inherited, and free */
	FAILS(lock(F_SETLK, F_RDLCK, 39, 2), EAGAIN);
}

static void see_read(void)
{
	CHECK(!lock(F_SETLK, F_RDLCK, 0, 0));
	FAILS(lock(F_SETLK, F_WRLCK, 0, 1), EAGAIN);
	CHECK(met(F_WRLCK, 5, 1).l_len == 0); /* to the end of the file, wherever it is */
}

static void see_nothing(void)
{
	CHECK(met(F_WRLCK, 0, 0).l_type == F_UNLCK);
}

static void see_whole(void)
{
	struct flock l = met(F_RDLCK, 0, 0);

	CHECK(l.l_start == 10 && l.l_len == 30);
}

static void test_records(void)
{
	struct flock end = { .l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -10, .l_len = -5 };
	int other;

	CHECK(!lock(F_SETLK, F_WRLCK, 0, 100) && !lock(F_SETLK, F_UNLCK, 40, 20));
	in_child(see_middle_free);
	CHECK(!lock(F_SETLK, F_RDLCK, 0, 0));
	in_child(see_read);
	CHECK(!lock(F_SETLK, F_UNLCK, 0, 0));
	in_child(see_nothing);
	CHECK(!lock(F_SETLK, F_WRLCK, 10, 10) && !lock(F_SETLK, F_WRLCK, 30, 10));
	CHECK(!lock(F_SETLK, F_WRLCK, 20, 10)); /* the three are merged */
	in_child(see_whole);
	other = open("locks-test", O_RDWR);
	close(other); /* closing any descriptor of the file releases them */
	in_child(see_nothing);
	FAILS(lock(F_SETLK, F_WRLCK, -1, 1), EINVAL);
	FAILS(lock(F_SETLK, 7, 0, 1), EINVAL);
	CHECK(!ftruncate(fd, 100) && !fcntl(fd, F_SETLK, &end));
	end = met(F_WRLCK, 0, 0);
	CHECK(end.l_type == F_UNLCK && !lock(F_SETLK, F_UNLCK, 85, 5));
	other = open("locks-test", O_RDONLY);
	end.l_type = F_WRLCK;
	FAILS(fcntl(other, F_SETLK, &end), EBADF);
	close(other);
}

/* Waits for a lock that the parent holds; it must become free. */
static void wait_for_parent(void)
{
	CHECK(!lock(F_SETLKW, F_WRLCK, 0, 1));
}

static void test_waiting(void)
{
	pid_t child;
	int status;

	CHECK(!lock(F_SETLK, F_WRLCK, 0, 1));
	child = fork();
	if (!child) {
		nr_failures = 0;
		wait_for_parent();
		_exit(nr_failures);
	}
	sleep_ms(50);
	CHECK(waitpid(child, &status, WNOHANG) == 0);
	CHECK(!lock(F_SETLK, F_UNLCK, 0, 1));
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* The parent holds 0, the child holds 1, each wants the other's: the second request must fail. */
static void test_deadlock(void)
{
	int status;
	pid_t child;

	CHECK(!lock(F_SETLK, F_WRLCK, 0, 1));
	child = fork();
	if (!child) {
		nr_failures = 0;
		CHECK(!lock(F_SETLK, F_WRLCK, 1, 1) && !lock(F_SETLKW, F_WRLCK, 0, 1));
		_exit(nr_failures);
	}
	sleep_ms(50);
	FAILS(lock(F_SETLKW, F_WRLCK, 1, 1), EDEADLK);
	CHECK(!lock(F_SETLK, F_UNLCK, 0, 1));
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void test_flock(void)
{
	int other = open("locks-test", O_RDONLY), twin = dup(other);

	CHECK(!flock(fd, LOCK_SH) && !flock(other, LOCK_SH | LOCK_NB));
	FAILS(flock(other, LOCK_EX | LOCK_NB), EWOULDBLOCK);
	FAILS(flock(fd, LOCK_EX | LOCK_SH), EINVAL);
	CHECK(!flock(other, LOCK_UN) && !flock(fd, LOCK_EX | LOCK_NB));
	FAILS(flock(other, LOCK_SH | LOCK_NB), EWOULDBLOCK);
	CHECK(!lock(F_SETLK, F_WRLCK, 0, 0)); /* the other kind is ignored */
	CHECK(!flock(fd, LOCK_UN) && !flock(twin, LOCK_EX | LOCK_NB));
	close(twin);
	FAILS(flock(fd, LOCK_SH | LOCK_NB), EWOULDBLOCK); /* its other descriptor is open */
	close(other);
	CHECK(!flock(fd, LOCK_SH | LOCK_NB));
}

void test_locks(void)
{
	fd = open("locks-test", O_CREAT | O_RDWR, 0600);
	CHECK(fd >= 0);
	test_records();
	test_waiting();
	test_deadlock();
	test_flock();
	close(fd);
	unlink("locks-test");
}
