/*
 * transfer: sendfile, copy_file_range, msync, mincore and waitid, by their numbers. On Linux, too, this must
 * report no failures.
 */
#include "check.h"
#include "lab.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define HELP "usage: transfer\n"

enum { FORBIDDEN = 0xC0100000, PAGE = 4096, SIZE = 100000 };
enum { SENDFILE = 187, SENDFILE64 = 239, COPY_RANGE = 377, MSYNC = 144, MINCORE = 218 };

static char data[SIZE], back[SIZE];

static int make(const char *path, int flags)
{
	return open(path, flags | O_CREAT | O_TRUNC, 0600);
}

static int filled(const char *path)
{
	int fd = make(path, O_RDWR);

	CHECK(fd >= 0 && write(fd, data, SIZE) == SIZE);
	return fd;
}

static void send_whole(void)
{
	int in = filled("from"), out = make("to", O_RDWR);
	int64_t pos = 5;
	int32_t small = SIZE - 10;

	CHECK(lseek(in, 0, SEEK_SET) == 0);
	CHECK(syscall(SENDFILE, out, in, NULL, SIZE + 50) == SIZE);
	CHECK(lseek(in, 0, SEEK_CUR) == SIZE && lseek(out, 0, SEEK_CUR) == SIZE);
	CHECK(pread(out, back, SIZE, 0) == SIZE && !memcmp(data, back, SIZE));
	CHECK(syscall(SENDFILE, out, in, NULL, 10) == 0); /* at the end */
	CHECK(syscall(SENDFILE64, out, in, &pos, 7) == 7 && pos == 12);
	CHECK(lseek(in, 0, SEEK_CUR) == SIZE && lseek(out, 0, SEEK_CUR) == SIZE + 7);
	CHECK(syscall(SENDFILE, out, in, &small, 100) == 10 && small == SIZE);
	CHECK(pread(out, back, 17, SIZE) == 17 && !memcmp(back, data + 5, 7));
	CHECK(!memcmp(back + 7, data + SIZE - 10, 10));
	close(in);
	close(out);
}

static void send_wrong(void)
{
	int in = filled("from"), out = make("to", O_RDWR), append = open("to", O_WRONLY | O_APPEND);
	int reads = open("to", O_RDONLY), writes = open("from", O_WRONLY), ends[2];
	int64_t before = -1, zero = 0;

	CHECK(!pipe(ends));
	FAILS(syscall(SENDFILE, out, 60, NULL, 1), EBADF);
	FAILS(syscall(SENDFILE, 60, in, NULL, 1), EBADF);
	FAILS(syscall(SENDFILE, reads, in, NULL, 1), EBADF);
	FAILS(syscall(SENDFILE, out, writes, NULL, 1), EBADF);
	FAILS(syscall(SENDFILE, append, in, NULL, 1), EINVAL);
	FAILS(syscall(SENDFILE, out, ends[0], NULL, 1), EINVAL);
	FAILS(syscall(SENDFILE64, out, ends[0], &zero, 1), ESPIPE);
	FAILS(syscall(SENDFILE64, out, in, &before, 1), EINVAL);
	FAILS(syscall(SENDFILE64, out, in, FORBIDDEN, 1), EFAULT);
	FAILS(syscall(SENDFILE, out, in, FORBIDDEN, 1), EFAULT);
	CHECK(syscall(SENDFILE, out, in, NULL, 0) == 0);
	CHECK(syscall(SENDFILE64, ends[1], in, &zero, 9) == 9 && read(ends[0], back, 20) == 9);
	CHECK(!memcmp(back, data, 9));
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	FAILS(syscall(SENDFILE64, ends[1], in, &zero, 9), EPIPE);
	close(ends[1]);
	close(in);
	close(out);
	close(append);
	close(reads);
	close(writes);
}

static void copy_ranges(void)
{
	int in = filled("from"), out = make("to", O_RDWR), append = open("to", O_WRONLY | O_APPEND);
	int folder = open(".", O_RDONLY), reads = open("to", O_RDONLY);
	int64_t a = 10, b = 3, far = SIZE + 1;

	CHECK(syscall(COPY_RANGE, in, &a, out, &b, 5000, 0) == 5000 && a == 5010 && b == 5003);
	CHECK(lseek(out, 0, SEEK_CUR) == 0 && lseek(in, 0, SEEK_CUR) == SIZE);
	CHECK(pread(out, back, 5003, 0) == 5003 && !memcmp(back + 3, data + 10, 5000) && !back[2]);
	CHECK(syscall(COPY_RANGE, in, NULL, out, NULL, 10, 0) == 0);
	CHECK(syscall(COPY_RANGE, in, &far, out, NULL, 10, 0) == 0);
	a = SIZE - 4;
	CHECK(syscall(COPY_RANGE, in, &a, out, NULL, 10, 0) == 4 && lseek(out, 0, SEEK_CUR) == 4);
	FAILS(syscall(COPY_RANGE, in, &a, out, NULL, 10, 1), EINVAL);
	FAILS(syscall(COPY_RANGE, folder, NULL, out, NULL, 10, 0), EISDIR);
	FAILS(syscall(COPY_RANGE, in, NULL, append, NULL, 10, 0), EBADF);
	FAILS(syscall(COPY_RANGE, in, NULL, reads, NULL, 10, 0), EBADF);
	FAILS(syscall(COPY_RANGE, in, NULL, 60, NULL, 10, 0), EBADF);
	FAILS(syscall(COPY_RANGE, in, FORBIDDEN, out, NULL, 10, 0), EFAULT);
	a = 0;
	b = 50;
	FAILS(syscall(COPY_RANGE, in, &a, in, &b, 100, 0), EINVAL); /* they overlap */
	CHECK(syscall(COPY_RANGE, in, &a, in, &b, 50, 0) == 50 && a == 50 && b == 100);
	close(in);
	close(out);
	close(append);
	close(folder);
	close(reads);
}

static void synced_mapping(void)
{
	int fd = filled("from");
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(p != MAP_FAILED);
	p[PAGE] = 'x';
	CHECK(syscall(MSYNC, p, 3 * PAGE, MS_SYNC) == 0 && syscall(MSYNC, p, 1, MS_ASYNC) == 0);
	CHECK(syscall(MSYNC, p, 0, MS_SYNC) == 0 && syscall(MSYNC, p, PAGE, 0) == 0);
	CHECK(pread(fd, back, 1, PAGE) == 1 && back[0] == 'x');
	FAILS(syscall(MSYNC, p + 1, PAGE, MS_SYNC), EINVAL);
	FAILS(syscall(MSYNC, p, PAGE, MS_SYNC | MS_ASYNC), EINVAL);
	FAILS(syscall(MSYNC, p, PAGE, 8), EINVAL);
	CHECK(!munmap(p + PAGE, PAGE));
	FAILS(syscall(MSYNC, p, 3 * PAGE, MS_SYNC), ENOMEM);
	FAILS(syscall(MSYNC, p, 3 * PAGE, MS_ASYNC), ENOMEM);
	FAILS(syscall(MSYNC, p, -1, MS_SYNC), ENOMEM);
	CHECK(syscall(MSYNC, p, PAGE, MS_INVALIDATE) == 0);
	if (!mlock(p, PAGE)) {
		FAILS(syscall(MSYNC, p, PAGE, MS_INVALIDATE), EBUSY);
		FAILS(syscall(MSYNC, p, PAGE, MS_INVALIDATE | MS_SYNC), EBUSY);
	}
	munmap(p, 3 * PAGE);
	close(fd);
}

static void pages_in_memory(void)
{
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char vec[5] = { 9, 9, 9, 9, 9 };
	int fd = filled("from");
	char *file = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, PAGE);

	p[0] = p[2 * PAGE] = 1;
	CHECK(syscall(MINCORE, p, 4 * PAGE, vec) == 0);
	CHECK((vec[0] & 1) && !vec[1] && (vec[2] & 1) && !vec[3] && vec[4] == 9);
	CHECK(syscall(MINCORE, file, 2 * PAGE, vec) == 0 && (vec[0] & 1) && (vec[1] & 1));
	vec[2] = 7;
	CHECK(syscall(MINCORE, file, PAGE + 1, vec) == 0 && vec[2] == 7);
	CHECK(syscall(MINCORE, p, 0, NULL) == 0);
	FAILS(syscall(MINCORE, p + 1, PAGE, vec), EINVAL);
	FAILS(syscall(MINCORE, p, PAGE, FORBIDDEN), EFAULT);
	FAILS(syscall(MINCORE, p, PAGE, NULL), EFAULT);
	FAILS(syscall(MINCORE, p, -PAGE, vec), ENOMEM);
	CHECK(!munmap(p + PAGE, PAGE));
	FAILS(syscall(MINCORE, p, 3 * PAGE, vec), ENOMEM);
	munmap(p, PAGE);
	munmap(p + 2 * PAGE, 2 * PAGE);
	munmap(file, 2 * PAGE);
	close(fd);
}

static int child_that_exits(int code)
{
	int pid = fork();

	if (!pid)
		_exit(code);
	return pid;
}

static void ends_of_children(void)
{
	int pid = child_that_exits(7), other, ends[2];
	siginfo_t info;
	char c;

	memset(&info, 9, sizeof(info));
	CHECK(!waitid(P_PID, pid, &info, WEXITED | WNOWAIT) && info.si_pid == pid);
	CHECK(info.si_signo == SIGCHLD && info.si_code == CLD_EXITED && info.si_status == 7);
	CHECK(!waitid(P_ALL, 0, &info, WEXITED) && info.si_pid == pid);
	FAILS(waitid(P_ALL, 0, &info, WEXITED), ECHILD);
	FAILS(waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG), ECHILD);
	CHECK(!pipe(ends));
	pid = fork();
	if (!pid)
		_exit(read(ends[0], &c, 1) + 20);
	memset(&info, 9, sizeof(info));
	CHECK(!waitid(P_PID, pid, &info, WEXITED | WNOHANG) && !info.si_pid && !info.si_signo);
	CHECK(!waitid(P_PID, pid, NULL, WSTOPPED | WNOHANG));
	FAILS(waitid(P_PID, pid, &info, 0), EINVAL);
	FAILS(waitid(P_PID, pid, &info, WNOHANG), EINVAL);
	FAILS(waitid(P_PID, pid, &info, WEXITED | 64), EINVAL);
	FAILS(waitid(9, pid, &info, WEXITED), EINVAL);
	FAILS(waitid(P_PID, 0, &info, WEXITED), EINVAL);
	FAILS(waitid(P_PID, getpid(), &info, WEXITED), ECHILD);
	CHECK(!kill(pid, SIGTERM));
	CHECK(!waitid(P_PGID, 0, &info, WEXITED) && info.si_pid == pid);
	CHECK(info.si_code == CLD_KILLED && info.si_status == SIGTERM);
	other = child_that_exits(0);
	CHECK(!waitid(P_PGID, getpgrp(), NULL, WEXITED));
	FAILS(waitid(P_PID, other, &info, WEXITED), ECHILD);
	other = child_that_exits(0);
	FAILS(waitid(P_PID, other, (void *)FORBIDDEN, WEXITED), EFAULT);
	while (waitpid(-1, NULL, 0) > 0)
		;
	close(ends[0]);
	close(ends[1]);
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	for (unsigned i = 0; i < SIZE; i++)
		data[i] = i * 31 + i / 256;
	CHECK(!chdir("/tmp") && !access(".", W_OK));
	mkdir("transfer", 0700);
	CHECK(!chdir("transfer"));
	send_whole();
	send_wrong();
	copy_ranges();
	synced_mapping();
	pages_in_memory();
	ends_of_children();
	unlink("from");
	unlink("to");
	CHECK(!chdir("..") && !rmdir("transfer"));
	return check_report("transfer");
}
