/*
 * attributes: extended attributes of files that can have none, and the times of a mapped file. As with corners, Linux
 * is the reference: run there, this must report no failures, either. Files of /proc have no such attributes in both
 * kernels.
 */
#include "check.h"
#include "lab.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define HELP "usage: attributes\n"
#define NOWHERE ((void *)-4096)
#define FILE_OF_PROC "/proc/self/comm"
#define LINK "/proc/self"
#define ACL "system.posix_acl_access"
#define MAPPED "/dev/shm/attributes"

enum { LONGEST = 255, LARGEST = 65536 };

static char value[LARGEST + 1], name[LONGEST + 2] = "user.";

static void test_none_is_there(void)
{
	CHECK(!listxattr(FILE_OF_PROC, value, sizeof(value)));
	CHECK(!listxattr(FILE_OF_PROC, NULL, 0) && !llistxattr(LINK, value, 1));
	FAILS(getxattr(FILE_OF_PROC, "user.a", value, sizeof(value)), EOPNOTSUPP);
	FAILS(getxattr(FILE_OF_PROC, "user.a", NULL, 0), EOPNOTSUPP);
	FAILS(getxattr(FILE_OF_PROC, ACL, value, sizeof(value)), EOPNOTSUPP);
	FAILS(lgetxattr(LINK, ACL, value, sizeof(value)), EOPNOTSUPP);
	FAILS(getxattr(FILE_OF_PROC, "nothing", value, sizeof(value)), EOPNOTSUPP);
	FAILS(setxattr(FILE_OF_PROC, "user.a", "b", 1, 0), EOPNOTSUPP);
	FAILS(setxattr(FILE_OF_PROC, "user.a", value, LARGEST, XATTR_REPLACE), EOPNOTSUPP);
	FAILS(setxattr(FILE_OF_PROC, "user.a", NULL, 0, XATTR_CREATE), EOPNOTSUPP);
	FAILS(removexattr(FILE_OF_PROC, "user.a"), EOPNOTSUPP);
}

static void test_wrong_arguments(void)
{
	FAILS(listxattr("/nothing", value, 1), ENOENT);
	FAILS(listxattr(NOWHERE, value, 1), EFAULT);
	FAILS(getxattr("/nothing", "user.a", value, 1), ENOENT);
	FAILS(lgetxattr(FILE_OF_PROC "/a", "user.a", value, 1), ENOTDIR);
	FAILS(getxattr(FILE_OF_PROC, NOWHERE, value, 1), EFAULT);
	FAILS(getxattr(FILE_OF_PROC, "", value, 1), ERANGE);
	memset(name + 5, 'n', LONGEST - 5);
	FAILS(getxattr(FILE_OF_PROC, name, value, 1), EOPNOTSUPP);
	name[LONGEST] = 'n';
	FAILS(getxattr(FILE_OF_PROC, name, value, 1), ERANGE);
	FAILS(removexattr(FILE_OF_PROC, name), ERANGE);
	FAILS(setxattr(FILE_OF_PROC, name, "b", 1, 0), ERANGE);
	FAILS(setxattr("/nothing", "user.a", "b", 1, 0), ENOENT);
	FAILS(setxattr(FILE_OF_PROC, "user.a", "b", 1, 4), EINVAL);
	FAILS(setxattr(FILE_OF_PROC, "user.a", value, LARGEST + 1, 0), E2BIG);
	FAILS(setxattr(FILE_OF_PROC, "user.a", NOWHERE, 1, 0), EFAULT);
	FAILS(lremovexattr("", "user.a"), ENOENT);
}

static void test_descriptors(void)
{
	int fd = open(FILE_OF_PROC, O_RDONLY);

	CHECK(fd >= 0 && !flistxattr(fd, value, sizeof(value)));
	FAILS(fgetxattr(fd, ACL, value, sizeof(value)), EOPNOTSUPP);
	FAILS(fsetxattr(fd, "user.a", "b", 1, 0), EOPNOTSUPP);
	FAILS(fremovexattr(fd, "user.a"), EOPNOTSUPP);
	CHECK(!close(fd));
	FAILS(fgetxattr(fd, "user.a", value, sizeof(value)), EBADF);
	FAILS(flistxattr(fd, value, sizeof(value)), EBADF);
}

/* A mapping counts as an access, and a store by it as a change. */
static void test_times_of_a_mapped_file(void)
{
	struct timespec past[] = { { .tv_sec = 100 }, { .tv_sec = 200 } };
	int fd = open(MAPPED, O_RDWR | O_CREAT, 0600);
	struct stat st;
	char *at;

	CHECK(fd >= 0 && !ftruncate(fd, PAGE_SIZE_BYTES) && !futimens(fd, past));
	at = mmap(NULL, PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(at != MAP_FAILED && !fstat(fd, &st) && st.st_atime > 200 && st.st_mtime == 200);
	*at = 'x';
	CHECK(!msync(at, PAGE_SIZE_BYTES, MS_SYNC) && !fstat(fd, &st) && st.st_mtime > 200);
	CHECK(!munmap(at, PAGE_SIZE_BYTES) && !close(fd) && !unlink(MAPPED));
}

static void test_no_core_dump(void)
{
	CHECK(!prctl(PR_SET_DUMPABLE, 0) && !prctl(PR_GET_DUMPABLE));
	FAILS(prctl(PR_SET_DUMPABLE, 7), EINVAL);
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	test_none_is_there();
	test_wrong_arguments();
	test_descriptors();
	test_times_of_a_mapped_file();
	test_no_core_dump();
	return check_report("attributes");
}
