/* Names, links, nodes, modes, owners, times, sizes. */
#include "vfs.h"
#include <poll.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

enum { NOREPLACE = 1, CHAIN = 40 };

/* Returns the number of entries of that name in the working directory. */
static int listed(const char *name)
{
	DIR *dir = opendir(".");
	struct dirent *e;
	int n = 0;

	while ((e = readdir(dir)))
		n += !strcmp(e->d_name, name);
	closedir(dir);
	return n;
}

static void test_names(void)
{
	char name[257], path[4200];

	memset(name, '\xff', 255); /* invalid UTF-8 */
	name[255] = '\0';
	CHECK(!make(name) && listed(name) == 1 && !unlink(name) && !listed(name));
	CHECK(!mkdir(name, 0700) && !rmdir(name));
	name[255] = 'x';
	name[256] = '\0';
	FAILS(make(name), ENAMETOOLONG);
	FAILS(symlink("a", name), ENAMETOOLONG);
	CHECK(!make("a\n\t\\\"") && listed("a\n\t\\\"") == 1 && !unlink("a\n\t\\\""));
	memset(path, '/', 4096);
	path[4095] = '\0';
	CHECK(!access(path, F_OK));
	path[4095] = '/';
	path[4096] = '\0';
	FAILS(access(path, F_OK), ENAMETOOLONG);
	FAILS(make(""), ENOENT);
	FAILS(make("none/x"), ENOENT);
	FAILS(mkdir("/", 0700), EEXIST);
	FAILS(mkdir(".", 0700), EEXIST);
	FAILS(mkdir("none/..", 0700), ENOENT);
	FAILS(mknod("node/", S_IFREG | 0600, 0), ENOENT);
}

static void test_removing(void)
{
	CHECK(!make("f") && !mkdir("d", 0700) && !make("d/in"));
	FAILS(unlink("d"), EISDIR);
	FAILS(unlink("."), EISDIR);
	FAILS(unlink("f/"), ENOTDIR);
	FAILS(unlink("f/x"), ENOTDIR);
	FAILS(rmdir("f"), ENOTDIR);
	FAILS(rmdir("d"), ENOTEMPTY);
	FAILS(rmdir("d/."), EINVAL);
	FAILS(rmdir("d/.."), ENOTEMPTY);
	FAILS(rmdir("/"), EBUSY);
	FAILS(unlinkat(AT_FDCWD, "f", 1), EINVAL);
	CHECK(!unlink("d/in") && !rmdir("d/") && !unlink("f"));
	FAILS(unlink("f"), ENOENT);
}

static void test_links(void)
{
	CHECK(!make("f") && info("f").st_nlink == 1);
	CHECK(!link("f", "g") && info("g").st_nlink == 2 && info("f").st_ino == info("g").st_ino);
	FAILS(link("f", "g"), EEXIST);
	FAILS(link("none", "h"), ENOENT);
	FAILS(link("f", "h/"), ENOENT);
	FAILS(link(".", "h"), EPERM);
	CHECK(!rename("f", "g") && info("f").st_nlink == 2); /* the same file: no effect */
	CHECK(!unlink("f") && info("g").st_nlink == 1 && !unlink("g"));
	CHECK(!mkdir("d", 0700) && info("d").st_nlink == 2);
	CHECK(!mkdir("d/e", 0700) && info("d").st_nlink == 3);
	CHECK(!mkdir("h", 0700) && !rename("d/e", "h/e"));
	CHECK(info("d").st_nlink == 2 && info("h").st_nlink == 3);
	CHECK(!rmdir("h/e") && info("h").st_nlink == 2 && !rmdir("h") && !rmdir("d"));
}

static void test_unlinked(void)
{
	int fd = open("f", O_CREAT | O_RDWR, 0600);
	struct stat st;
	char c = 'x';

	CHECK(!unlink("f") && !fstat(fd, &st) && st.st_nlink == 0);
	CHECK(write(fd, &c, 1) == 1 && pread(fd, &c, 1, 0) == 1);
	close(fd);
}

static void test_symlinks(void)
{
	char name[16], to[16], buf[8];
	struct stat st;

	CHECK(!symlink("f", "s") && info("s").st_size == 1 && S_ISLNK(info("s").st_mode));
	FAILS(open("s", O_RDONLY), ENOENT);
	FAILS(open("s", O_CREAT | O_EXCL | O_RDWR, 0600), EEXIST);
	CHECK(!close(open("s", O_CREAT | O_RDWR, 0600)) && S_ISREG(info("f").st_mode));
	FAILS(open("s", O_RDONLY | O_NOFOLLOW), ELOOP);
	FAILS(open("s/", O_RDONLY), ENOTDIR);
	CHECK(readlink("s", buf, sizeof(buf)) == 1 && *buf == 'f');
	FAILS(readlink("f", buf, sizeof(buf)), EINVAL);
	CHECK(!linkat(AT_FDCWD, "s", AT_FDCWD, "t", 0) && S_ISLNK(info("t").st_mode));
	CHECK(!linkat(AT_FDCWD, "s", AT_FDCWD, "u", AT_SYMLINK_FOLLOW) && info("f").st_nlink == 2);
	CHECK(!unlink("t") && !unlink("u") && !unlink("s") && !unlink("f"));
	FAILS(symlink("", "s"), ENOENT);
	CHECK(!symlink("loop", "loop"));
	FAILS(stat("loop", &st), ELOOP);
	FAILS(stat("loop/x", &st), ELOOP);
	CHECK(!unlink("loop") && !make("c0"));
	for (int i = 1; i <= CHAIN + 1; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		snprintf(to, sizeof(to), "c%d", i - 1);
		CHECK(!symlink(to, name));
	}
	CHECK(!stat("c40", &st) && S_ISREG(st.st_mode));
	FAILS(stat("c41", &st), ELOOP);
	for (int i = 0; i <= CHAIN + 1; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		CHECK(!unlink(name));
	}
}

static void test_renames(void)
{
	int here = open(".", O_RDONLY | O_DIRECTORY), there;

	CHECK(!mkdir("d", 0700) && !mkdir("d/e", 0700) && !make("f"));
	there = open("d", O_RDONLY | O_DIRECTORY);
	FAILS(rename("d", "d/e/x"), EINVAL);
	FAILS(rename("d/e", "d"), ENOTEMPTY);
	FAILS(rename(".", "x"), EBUSY);
	FAILS(rename("d/..", "x"), EBUSY);
	FAILS(rename("f", "x/"), ENOTDIR);
	FAILS(rename("f/", "x"), ENOTDIR);
	FAILS(rename2("f", "d", NOREPLACE), EEXIST);
	FAILS(rename2("f", "x", 64), EINVAL);
	CHECK(!rename2("f", "x", NOREPLACE) && !rename("x", "f"));
	CHECK(!renameat(here, "f", there, "g") && !access("d/g", F_OK));
	CHECK(!linkat(there, "g", here, "f", 0) && info("f").st_nlink == 2);
	FAILS(renameat(here, "f", 77, "g"), EBADF);
	CHECK(!renameat(there, "e", here, "e/") && !rmdir("e"));
	CHECK(!unlink("d/g") && !unlink("f") && !rmdir("d"));
	close(here);
	close(there);
}

static void test_nodes(void)
{
	CHECK(!mknod("n", S_IFCHR | 0600, makedev(1, 3)) && info("n").st_rdev == makedev(1, 3));
	CHECK(S_ISCHR(info("n").st_mode) && !unlink("n"));
	CHECK(!mknod("n", S_IFBLK | 0600, makedev(8, 1)) && S_ISBLK(info("n").st_mode));
	FAILS(mknod("n", S_IFIFO | 0600, 0), EEXIST);
	CHECK(!unlink("n") && !mknod("n", 0640, 0) && S_ISREG(info("n").st_mode) && !unlink("n"));
	FAILS(mknod("n", S_IFDIR | 0700, 0), EPERM);
	FAILS(mknod("n", 0170000, 0), EINVAL);
}

/* A child that opens the FIFO for writing, optionally writes a byte, and ends. */
static pid_t writer(bool write_it)
{
	pid_t child = fork();

	if (!child) {
		int fd = open("p", O_WRONLY);

		_exit(write_it && write(fd, "x", 1) != 1);
	}
	return child;
}

static void test_fifos(void)
{
	struct pollfd p = { .events = POLLIN };
	char c;
	int fd, to;

	CHECK(!mkfifo("p", 0600) && S_ISFIFO(info("p").st_mode));
	FAILS(open("p", O_WRONLY | O_NONBLOCK), ENXIO);
	writer(true);
	fd = open("p", O_RDONLY); /* waits for the child */
	CHECK(read(fd, &c, 1) == 1 && c == 'x' && read(fd, &c, 1) == 0);
	wait(NULL);
	close(fd);
	writer(false);
	CHECK((fd = open("p", O_RDONLY)) >= 0 && read(fd, &c, 1) == 0);
	wait(NULL);
	close(fd);
	fd = p.fd = open("p", O_RDONLY | O_NONBLOCK);
	CHECK(read(fd, &c, 1) == 0 && poll(&p, 1, 0) == 0);
	CHECK((to = open("p", O_WRONLY | O_NONBLOCK)) >= 0);
	FAILS(read(fd, &c, 1), EAGAIN);
	CHECK(write(to, "yz", 2) == 2 && poll(&p, 1, 0) == 1 && p.revents == POLLIN);
	close(to);
	CHECK(read(fd, &c, 1) == 1 && c == 'y' && read(fd, &c, 1) == 1 && read(fd, &c, 1) == 0);
	CHECK(poll(&p, 1, 0) == 1 && p.revents == POLLHUP);
	FAILS(lseek(fd, 0, SEEK_SET), ESPIPE);
	close(fd);
	fd = open("p", O_RDWR);
	CHECK(write(fd, "x", 1) == 1 && read(fd, &c, 1) == 1 && !close(fd) && !unlink("p"));
}

static void test_modes(void)
{
	int fd = open("f", O_CREAT | O_RDWR, 0666);

	CHECK((info("f").st_mode & 07777) == 0644);
	CHECK(!chmod("f", 04755) && (info("f").st_mode & 07777) == 04755);
	CHECK(!chown("f", 7, -1) && info("f").st_uid == 7 && info("f").st_gid == 0);
	CHECK((info("f").st_mode & 07777) == 0755); /* the new owner cleared setuid */
	CHECK(!fchown(fd, -1, 100000) && info("f").st_gid == 100000 && info("f").st_uid == 7);
	CHECK(!fchmod(fd, 0) && (info("f").st_mode & 07777) == 0 && !access("f", R_OK | W_OK));
	FAILS(access("f", X_OK), EACCES);
	CHECK(!symlink("f", "s") && !lchown("s", 3, 4) && info("s").st_uid == 3);
	CHECK(info("f").st_uid == 7 && !chown("s", 0, 0) && info("f").st_uid == 0);
	CHECK(!mkdir("d", 01777) && (info("d").st_mode & 07777) == 01755 && !rmdir("d"));
	FAILS(chmod("none", 0), ENOENT);
	close(fd);
	CHECK(!unlink("s") && !unlink("f"));
}

static bool later(struct timespec a, struct timespec b)
{
	return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

static void test_times(void)
{
	struct timespec t[2] = { { 1000, 5 }, { 2000, 7 } };
	struct stat old, st;
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	char c;

	CHECK(!utimensat(AT_FDCWD, "f", t, 0));
	old = info("f");
	CHECK(old.st_atim.tv_sec == 1000 && old.st_mtim.tv_sec == 2000 && old.st_mtim.tv_nsec == 7);
	CHECK(old.st_ctim.tv_sec > 2000);
	sleep_ms(20);
	CHECK(!chmod("f", 0600));
	st = info("f");
	CHECK(later(st.st_ctim, old.st_ctim) && st.st_mtim.tv_sec == 2000);
	CHECK(write(fd, "x", 1) == 1 && info("f").st_mtim.tv_sec > 2000);
	CHECK(info("f").st_atim.tv_sec == 1000 && pread(fd, &c, 1, 0) == 1);
	old = info("f");
	CHECK(old.st_atim.tv_sec > 2000); /* the first read after a change */
	sleep_ms(20);
	CHECK(pread(fd, &c, 1, 0) == 1 && !later(info("f").st_atim, old.st_atim));
	t[0].tv_nsec = UTIME_OMIT;
	t[1].tv_nsec = UTIME_NOW;
	CHECK(!futimens(fd, t) && later(info("f").st_mtim, old.st_mtim));
	CHECK(!later(info("f").st_atim, old.st_atim));
	t[1].tv_nsec = -1;
	FAILS(futimens(fd, t), EINVAL);
	old = info(".");
	sleep_ms(20);
	CHECK(!link("f", "g") && later(info(".").st_mtim, old.st_mtim));
	CHECK(later(info("f").st_ctim, old.st_mtim) && !unlink("g"));
	old = info(".");
	sleep_ms(20);
	CHECK(!stat("f", &st) && !later(info(".").st_mtim, old.st_mtim));
	close(fd);
	CHECK(!unlink("f"));
}

static void test_sizes(void)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	char buf[8] = "1234567";

	CHECK(write(fd, buf, 7) == 7 && !truncate("f", 3) && info("f").st_size == 3);
	CHECK(!ftruncate(fd, 6) && pread(fd, buf, 8, 0) == 6 && !memcmp(buf, "123\0\0\0", 6));
	FAILS(truncate("f", -1), EINVAL);
	FAILS(truncate(".", 0), EISDIR);
	FAILS(truncate("none", 0), ENOENT);
	CHECK(!fsync(fd) && !fdatasync(fd) && !syncfs(fd));
	CHECK(posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED) == 0);
	CHECK(posix_fadvise(fd, 0, 0, 77) == EINVAL);
	close(fd);
	fd = open("f", O_WRONLY | O_RDWR); /* neither for reading nor for writing */
	FAILS(read(fd, buf, 1), EBADF);
	FAILS(write(fd, "x", 1), EBADF);
	FAILS(ftruncate(fd, 1), EINVAL);
	close(fd);
	fd = open("f", O_WRONLY | O_SYNC);
	CHECK((fcntl(fd, F_GETFL) & O_SYNC) == O_SYNC && write(fd, "x", 1) == 1);
	close(fd);
	CHECK(!unlink("f"));
}

static void test_file_systems(void)
{
	struct statfs st;
	int fd = open(".", O_RDONLY);

	CHECK(!statfs(".", &st) && st.f_namelen == 255 && st.f_bfree <= st.f_blocks);
	CHECK(!fstatfs(fd, &st) && st.f_bsize >= 512);
	FAILS(statfs("none", &st), ENOENT);
	FAILS(fstatfs(77, &st), EBADF);
	close(fd);
}

void (*const name_tests[])(void) = {
	test_names,   test_removing,     test_links, test_unlinked, test_symlinks,
	test_renames, test_nodes,        test_fifos, test_modes,    test_times,
	test_sizes,   test_file_systems, NULL,
};
