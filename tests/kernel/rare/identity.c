/*
 * identity: the user and group ids of a process, and which ids it may take. On Linux, too, this must report no
 * failures; only root can make most of the checks there.
 */
#include "child.h"
#include "lab.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define HELP "usage: identity\n"

enum { KEEP = -1 };
enum { FORBIDDEN = 0xC0100000 }; /* not in the same enum: its type would then have 64 bits */

static bool users_are(unsigned real, unsigned effective, unsigned saved)
{
	unsigned id[3];

	return !syscall(SYS_getresuid32, &id[0], &id[1], &id[2]) && id[0] == real &&
	       id[1] == effective && id[2] == saved && getuid() == real && geteuid() == effective;
}

static bool groups_are(unsigned real, unsigned effective, unsigned saved)
{
	unsigned id[3];

	return !syscall(SYS_getresgid32, &id[0], &id[1], &id[2]) && id[0] == real &&
	       id[1] == effective && id[2] == saved && getgid() == real && getegid() == effective;
}

static void wrong_arguments(void)
{
	unsigned id;

	FAILS(syscall(SYS_setuid32, KEEP), EINVAL);
	FAILS(syscall(SYS_setgid32, KEEP), EINVAL);
	FAILS(syscall(SYS_getresuid32, FORBIDDEN, &id, &id), EFAULT);
	FAILS(syscall(SYS_getresgid32, &id, &id, FORBIDDEN), EFAULT);
	FAILS(syscall(SYS_getgroups32, -1, NULL), EINVAL);
	CHECK(!syscall(SYS_setresuid32, KEEP, KEEP, KEEP));
	CHECK(!syscall(SYS_setreuid32, KEEP, KEEP));
}

static void for_good(void)
{
	CHECK(!syscall(SYS_setgid32, 7) && groups_are(7, 7, 7));
	CHECK(!syscall(SYS_setuid32, 1000) && users_are(1000, 1000, 1000));
	FAILS(syscall(SYS_setuid32, 0), EPERM);
	FAILS(syscall(SYS_setreuid32, 0, KEEP), EPERM);
	FAILS(syscall(SYS_setresuid32, KEEP, KEEP, 0), EPERM);
	FAILS(syscall(SYS_setgid32, 0), EPERM);
	CHECK(!syscall(SYS_setuid32, 1000) && !syscall(SYS_setresgid32, 7, 7, 7));
}

static void there_and_back(void)
{
	CHECK(!syscall(SYS_setresuid32, KEEP, 5, KEEP) && users_are(0, 5, 0));
	FAILS(syscall(SYS_setuid32, 6), EPERM);
	CHECK(!syscall(SYS_setuid32, 0) &&
	      users_are(0, 0, 0)); /* only the effective one, which root then is */
	CHECK(!syscall(SYS_setreuid32, 8, 9) && users_are(8, 9, 9));
	FAILS(syscall(SYS_setreuid32, 0, KEEP), EPERM);
	CHECK(!syscall(SYS_setreuid32, 9, 8) && users_are(9, 8, 8)); /* exchanged */
	CHECK(!syscall(SYS_setresuid32, KEEP, 9, KEEP) && users_are(9, 9, 8));
	FAILS(syscall(SYS_setreuid32, 8, KEEP),
	      EPERM); /* the saved one cannot become the real one */
	CHECK(!syscall(SYS_setreuid32, KEEP, 8) && users_are(9, 8, 8));
}

static void group_of_root(void)
{
	CHECK(!syscall(SYS_setregid32, KEEP, 4) && groups_are(0, 4, 4));
	CHECK(!syscall(SYS_setregid32, 3, KEEP) && groups_are(3, 4, 4));
	CHECK(!syscall(SYS_setresgid32, 1, 2, 3) && groups_are(1, 2, 3));
}

static void list_of_groups(void)
{
	unsigned some[3] = { 10, 20, 30 }, got[4] = { 0 };

	CHECK(!syscall(SYS_setgroups32, 3, some) && syscall(SYS_getgroups32, 0, NULL) == 3);
	CHECK(syscall(SYS_getgroups32, 4, got) == 3 && !memcmp(got, some, sizeof(some)));
	FAILS(syscall(SYS_getgroups32, 2, got), EINVAL);
	FAILS(syscall(SYS_getgroups32, 3, FORBIDDEN), EFAULT);
	FAILS(syscall(SYS_setgroups32, 3, FORBIDDEN), EFAULT);
	FAILS(syscall(SYS_setgroups32, -1, some), EINVAL);
	CHECK(!syscall(SYS_setgroups32, 0, NULL) && syscall(SYS_getgroups32, 4, got) == 0);
	CHECK(!syscall(SYS_setgroups32, 1, some) && !syscall(SYS_setuid32, 1000));
	FAILS(syscall(SYS_setgroups32, 0, NULL), EPERM);
	CHECK(syscall(SYS_getgroups32, 4, got) == 1 && got[0] == 10);
}

static void files_and_limits(void)
{
	struct rlimit limit;
	struct stat st;
	int fd, status;

	CHECK(!syscall(SYS_setgid32, 70) && !syscall(SYS_setuid32, 1000));
	fd = open("/tmp/identity/file", O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && !fstat(fd, &st) && st.st_uid == 1000 && st.st_gid == 70);
	CHECK(!unlink("/tmp/identity/file"));
	CHECK(!getrlimit(RLIMIT_CPU, &limit));
	limit.rlim_cur = limit.rlim_max = 1000;
	CHECK(!setrlimit(RLIMIT_CPU, &limit));
	limit.rlim_max = 2000;
	FAILS(setrlimit(RLIMIT_CPU, &limit), EPERM);
	FAILS(sethostname("x", 1), EPERM);
	if (!fork())
		_exit(!users_are(1000, 1000, 1000) || !groups_are(70, 70, 70));
	CHECK(wait(&status) > 0 && !status);
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	wrong_arguments();
	if (!geteuid()) {
		mkdir("/tmp/identity", 0777);
		chmod("/tmp/identity", 0777);
		in_child(for_good);
		in_child(there_and_back);
		in_child(group_of_root);
		in_child(list_of_groups);
		in_child(files_and_limits);
		rmdir("/tmp/identity");
	}
	return check_report("identity");
}
