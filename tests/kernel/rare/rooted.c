/*
 * rooted: a process with another root. On Linux, too, this must report no failures; only root can make most of the
 * checks there.
 */
#include "child.h"
#include "lab.h"
#include <fcntl.h>
#include <sys/stat.h>

#define HELP "usage: rooted\n"
#define PLACE "/tmp/rooted"

static bool same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* What an earlier run may have left goes first. */
static void make_place(void)
{
	unlink(PLACE "/link");
	unlink(PLACE "/in/file");
	unlink(PLACE);
	mkdir(PLACE, 0755);
	mkdir(PLACE "/in", 0755);
	CHECK(!mknod(PLACE "/in/file", S_IFREG | 0600, 0));
	CHECK(!symlink("/in/file", PLACE "/link"));
}

static void remove_place(void)
{
	CHECK(!unlink(PLACE "/link") && !unlink(PLACE "/in/file"));
	CHECK(!rmdir(PLACE "/in") && !rmdir(PLACE));
}

static void wrong_arguments(void)
{
	FAILS(chroot(PLACE "/nothing"), ENOENT);
	FAILS(chroot(PLACE "/in/file"), ENOTDIR);
	FAILS(chroot(PLACE "/in/file/a"), ENOTDIR);
	FAILS(chroot(""), ENOENT);
	FAILS(chroot((void *)-4096), EFAULT);
}

/* In a child: what it sees after chroot, before and after it goes there. */
static void look_around(void)
{
	char text[100];
	int outside = open("/", O_RDONLY);

	CHECK(!chdir(PLACE) && !chroot(PLACE));
	CHECK(same("/in", "in") && same("/link", "/in/file") && same("/..", "/") &&
	      same("/../../in", "in"));
	FAILS(open(PLACE, O_RDONLY), ENOENT);
	CHECK(getcwd(text, sizeof(text)) && !strcmp(text, "/"));
	CHECK(!chdir("/in") && !chdir("../..") && getcwd(text, sizeof(text)) && !strcmp(text, "/"));
	CHECK(!chdir("in") && getcwd(text, sizeof(text)) && !strcmp(text, "/in"));
	CHECK(!chroot(".") && same("/", ".") && same("/file", "file"));
	FAILS(open("/in", O_RDONLY), ENOENT);
	CHECK(same("..", "/")); /* the root is here */
	CHECK(!fchdir(outside) && same("tmp/rooted", &PLACE[1]));
	FAILS(chdir("/tmp"), ENOENT);
	CHECK(!chroot(".") && !chdir("/tmp") && same(PLACE, "rooted"));
	close(outside);
}

static void child_inherits(void)
{
	int status;

	CHECK(!chdir("/") && !chroot(PLACE));
	if (!fork())
		_exit(access("/in/file", F_OK) || !access("/tmp", F_OK));
	CHECK(wait(&status) > 0 && !status);
	CHECK(!setuid(1000));
	FAILS(chroot("/"), EPERM);
}

/* Where a child's root is, to others. */
static void seen_from_outside(void)
{
	char name[40], text[100] = "";
	int ready[2], over[2];
	pid_t pid;

	CHECK(!pipe(ready) && !pipe(over));
	pid = fork();
	if (!pid) {
		if (!chroot(PLACE) && write(ready[1], "x", 1) == 1)
			read(over[0], text, 1);
		_exit(0);
	}
	close(ready[1]); /* if the child ends, the read does, too */
	CHECK(read(ready[0], text, 1) == 1);
	snprintf(name, sizeof(name), "/proc/%d/root", (int)pid);
	memset(text, 0, sizeof(text));
	CHECK(readlink(name, text, sizeof(text) - 1) > 0 && !strcmp(text, PLACE));
	CHECK(write(over[1], "x", 1) == 1 && waitpid(pid, NULL, 0) == pid);
	close(ready[0]);
	close(over[0]);
	close(over[1]);
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	if (geteuid()) {
		FAILS(chroot("/"), EPERM);
		return check_report("rooted");
	}
	make_place();
	wrong_arguments();
	in_child(look_around);
	in_child(child_inherits);
	seen_from_outside();
	remove_place();
	return check_report("rooted");
}
