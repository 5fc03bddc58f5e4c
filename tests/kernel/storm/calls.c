/*
 * The calls that the storm makes: every call of the kernel, except what would end the machine. A
 * letter stands for an argument (args.c). Weights: 0 means 8; calls that end or block their caller are rare.
 * Calls of weight NOT_UNASKED are made only if --weight gives them another weight.
 */
#include "storm.h"

enum { NOT_UNASKED = -1 };

/* clang-format off */
const struct kind kinds[] = {
	{ "touch", "aA", BY_HAND, 60 },
	{ "sysctl", "n", BY_HAND + 1, 4 },
	{ "none", "nnnnnn", BY_HAND + 2, 2 },
	{ "raw", "", BY_HAND + 3, NOT_UNASKED },
	{ "code", "", BY_HAND + 4, 2 },
	{ "exit", "n", SYS_exit, 1 },
	{ "fork", "", SYS_fork, 8 },
	{ "read", "fbl", SYS_read, 20 },
	{ "write", "fbl", SYS_write, 20 },
	{ "open", "qOm", SYS_open, 30 },
	{ "close", "f", SYS_close, 16 },
	{ "waitpid", "CbW", SYS_waitpid, 4 },
	{ "creat", "pm", SYS_creat, 4 },
	{ "link", "pp", SYS_link, 0 },
	{ "unlink", "p", SYS_unlink, 0 },
	{ "execve", "xcc", SYS_execve, 2 },
	{ "chdir", "p", SYS_chdir, 3 },
	{ "time", "b", SYS_time, 2 },
	{ "mknod", "ptD", SYS_mknod, 0 },
	{ "chmod", "pm", SYS_chmod, 4 },
	{ "lchown", "pnn", SYS_lchown, 2 },
	{ "lseek", "fos", SYS_lseek, 0 },
	{ "getpid", "", SYS_getpid, 1 },
	{ "mount", "v/y2b", SYS_mount, 12 },
	{ "umount", "/", SYS_umount, 4 },
	{ "setuid", "&", SYS_setuid, 1 },
	{ "getuid", "", SYS_getuid, 1 },
	{ "stime", "b", SYS_stime, 1 },
	{ "alarm", "n", SYS_alarm, 2 },
	{ "pause", "", SYS_pause, 1 },
	{ "utime", "pV", SYS_utime, 3 },
	{ "access", "qX", SYS_access, 4 },
	{ "nice", "X", SYS_nice, 1 },
	{ "sync", "", SYS_sync, 1 },
	{ "kill", "PS", SYS_kill, 4 },
	{ "rename", "pp", SYS_rename, 12 },
	{ "mkdir", "pm", SYS_mkdir, 12 },
	{ "rmdir", "p", SYS_rmdir, 0 },
	{ "dup", "f", SYS_dup, 4 },
	{ "pipe", "b", SYS_pipe, 4 },
	{ "times", "b", SYS_times, 1 },
	{ "brk", "B", SYS_brk, 4 },
	{ "setgid", "&", SYS_setgid, 1 },
	{ "getgid", "", SYS_getgid, 1 },
	{ "geteuid", "", SYS_geteuid, 1 },
	{ "getegid", "", SYS_getegid, 1 },
	{ "umount2", "/3", SYS_umount2, 6 },
	{ "ioctl", "~Ib", SYS_ioctl, 6 },
	{ "fcntl", "fK+", SYS_fcntl, 6 },
	{ "chroot", "b", SYS_chroot, 1 },
	{ "setpgid", "PP", SYS_setpgid, 2 },
	{ "umask", "m", SYS_umask, 1 },
	{ "dup2", "fN", SYS_dup2, 3 },
	{ "getppid", "", SYS_getppid, 1 },
	{ "getpgrp", "", SYS_getpgrp, 1 },
	{ "setsid", "", SYS_setsid, 1 },
	{ "sigsuspend", "nnn", SYS_sigsuspend, 1 },
	{ "setrlimit", "Xb", SYS_setrlimit, 1 },
	{ "getrlimit", "Xb", SYS_getrlimit, 1 },
	{ "getrusage", "Qb", SYS_getrusage, 1 },
	{ "gettimeofday", "bb", SYS_gettimeofday_time32, 1 },
	{ "settimeofday", "bb", SYS_settimeofday_time32, 1 },
	{ "sethostname", "bl", SYS_sethostname, 1 },
	{ "select", "r", SYS_select, 1 },
	{ "symlink", "pp", SYS_symlink, 6 },
	{ "readlink", "pbl", SYS_readlink, 4 },
	{ "swapon", "wZ", SYS_swapon, 6 },
	{ "reboot", "nnnn", SYS_reboot, 1 },
	{ "mmap", "r", SYS_mmap, 4 },
	{ "munmap", "aA", SYS_munmap, 10 },
	{ "truncate", "po", SYS_truncate, 3 },
	{ "ftruncate", "fo", SYS_ftruncate, 4 },
	{ "fchmod", "fm", SYS_fchmod, 2 },
	{ "fchown", "fnn", SYS_fchown, 1 },
	{ "getpriority", "QP", SYS_getpriority, 1 },
	{ "setpriority", "QPX", SYS_setpriority, 2 },
	{ "statfs", "qb", SYS_statfs, 2 },
	{ "fstatfs", "fb", SYS_fstatfs, 2 },
	{ "setitimer", "QEb", SYS_setitimer, 2 },
	{ "getitimer", "Qb", SYS_getitimer, 1 },
	{ "wait4", "CbWb", SYS_wait4, 4 },
	{ "swapoff", "w", SYS_swapoff, 6 },
	{ "sysinfo", "b", SYS_sysinfo, 1 },
	{ "ipc", "JjXXa", SYS_ipc, 3 },
	{ "ipc shmat", "Jj7ba", SYS_ipc, 3 },
	{ "ipc shmget", "JkA6", SYS_ipc, 3 },
	{ "fsync", "f", SYS_fsync, 3 },
	{ "sigreturn", "", SYS_sigreturn, 1 },
	{ "clone", "5Bbbb", SYS_clone, 4 },
	{ "setdomainname", "bl", SYS_setdomainname, 1 },
	{ "uname", "b", SYS_uname, 1 },
	{ "mprotect", "aAR", SYS_mprotect, 12 },
	{ "getpgid", "P", SYS_getpgid, 1 },
	{ "fchdir", "f", SYS_fchdir, 2 },
	{ "personality", "n", SYS_personality, 1 },
	{ "_llseek", "fhobs", SYS__llseek, 4 },
	{ "_newselect", "nbbbT", SYS__newselect, 2 },
	{ "flock", "<9", SYS_flock, 6 },
	{ "msync", "aAX", SYS_msync, 4 },
	{ "readv", "fiX", SYS_readv, 0 },
	{ "writev", "fiX", SYS_writev, 0 },
	{ "getsid", "P", SYS_getsid, 1 },
	{ "fdatasync", "f", SYS_fdatasync, 1 },
	{ "mlock", "aA", SYS_mlock, 3 },
	{ "munlock", "aA", SYS_munlock, 3 },
	{ "mlockall", "X", SYS_mlockall, 1 },
	{ "munlockall", "", SYS_munlockall, 2 },
	{ "sched_yield", "", SYS_sched_yield, 4 },
	{ "nanosleep", "Tb", SYS_nanosleep, 3 },
	{ "mremap", "aAAea", SYS_mremap, 10 },
	{ "poll", "LXX", SYS_poll, 4 },
	{ "prctl", "Xb", SYS_prctl, 1 },
	{ "rt_sigreturn", "", SYS_rt_sigreturn, 1 },
	{ "rt_sigaction", "SGb8", SYS_rt_sigaction, 4 },
	{ "rt_sigprocmask", "Hgb8", SYS_rt_sigprocmask, 4 },
	{ "rt_sigpending", "b8", SYS_rt_sigpending, 1 },
	{ "rt_sigsuspend", "g8", SYS_rt_sigsuspend, 1 },
	{ "pread64", "fbloh", SYS_pread64, 12 },
	{ "pwrite64", "fbloh", SYS_pwrite64, 12 },
	{ "chown", "pnn", SYS_chown, 2 },
	{ "getcwd", "bl", SYS_getcwd, 2 },
	{ "sendfile", "ffzl", SYS_sendfile, 4 },
	{ "vfork", "", SYS_vfork, 2 },
	{ "sigaltstack", "bb", SYS_sigaltstack, 1 },
	{ "ugetrlimit", "Xb", SYS_ugetrlimit, 1 },
	{ "mmap2", "aARMfo", SYS_mmap2, 50 },
	{ "truncate64", "poh", SYS_truncate64, 4 },
	{ "ftruncate64", "foh", SYS_ftruncate64, 6 },
	{ "stat64", "qb", SYS_stat64, 4 },
	{ "lstat64", "qb", SYS_lstat64, 4 },
	{ "fstat64", "fb", SYS_fstat64, 4 },
	{ "lchown32", "pnn", SYS_lchown32, 1 },
	{ "getuid32", "", SYS_getuid32, 1 },
	{ "getgid32", "", SYS_getgid32, 1 },
	{ "geteuid32", "", SYS_geteuid32, 1 },
	{ "getegid32", "", SYS_getegid32, 1 },
	{ "setreuid32", "&&", SYS_setreuid32, 1 },
	{ "setregid32", "&&", SYS_setregid32, 1 },
	{ "getgroups32", "nb", SYS_getgroups32, 1 },
	{ "setgroups32", "Xb", SYS_setgroups32, 1 },
	{ "fchown32", "fnn", SYS_fchown32, 1 },
	{ "setresuid32", "&&&", SYS_setresuid32, 1 },
	{ "setresgid32", "&&&", SYS_setresgid32, 1 },
	{ "getresuid32", "bbb", SYS_getresuid32, 1 },
	{ "getresgid32", "bbb", SYS_getresgid32, 1 },
	{ "chown32", "pnn", SYS_chown32, 1 },
	{ "setuid32", "&", SYS_setuid32, 1 },
	{ "setgid32", "&", SYS_setgid32, 1 },
	{ "mincore", "aAb", SYS_mincore, 4 },
	{ "madvise", "aA4", SYS_madvise, 16 },
	{ "getdents64", "fbl", SYS_getdents64, 6 },
	{ "fcntl64", "<K+", SYS_fcntl64, 16 },
	{ "gettid", "", SYS_gettid, 1 },
	{ "tkill", "PS", SYS_tkill, 2 },
	{ "futex", "bX", SYS_futex, 2 },
	{ "sched_setaffinity", "Plb", SYS_sched_setaffinity, 1 },
	{ "sched_getaffinity", "Plb", SYS_sched_getaffinity, 1 },
	{ "sendfile64", "ffbl", SYS_sendfile64, 4 },
	{ "set_thread_area", "U", SYS_set_thread_area, 2 },
	{ "fadvise64", "fohl4", SYS_fadvise64, 3 },
	{ "exit_group", "n", SYS_exit_group, 1 },
	{ "set_tid_address", "b", SYS_set_tid_address, 2 },
	{ "clock_settime", "ub", SYS_clock_settime32, 1 },
	{ "clock_gettime", "ub", SYS_clock_gettime32, 1 },
	{ "clock_getres", "ub", SYS_clock_getres_time32, 1 },
	{ "clock_nanosleep", "uXTb", SYS_clock_nanosleep_time32, 1 },
	{ "statfs64", "q=b", SYS_statfs64, 3 },
	{ "fstatfs64", "f=b", SYS_fstatfs64, 3 },
	{ "tgkill", "PPS", SYS_tgkill, 2 },
	{ "utimes", "pV", SYS_utimes, 2 },
	{ "fadvise64_64", "fohlz4", SYS_fadvise64_64, 3 },
	{ "waitid", "QCb_b", SYS_waitid, 4 },
	{ "openat", "dqOm", SYS_openat, 16 },
	{ "mkdirat", "dpm", SYS_mkdirat, 4 },
	{ "mknodat", "dptD", SYS_mknodat, 3 },
	{ "fchownat", "dpnn%", SYS_fchownat, 1 },
	{ "futimesat", "dpV", SYS_futimesat, 1 },
	{ "fstatat64", "dqb%", SYS_fstatat64, 3 },
	{ "unlinkat", "dp!", SYS_unlinkat, 0 },
	{ "renameat", "dpdp", SYS_renameat, 4 },
	{ "linkat", "dpdp#", SYS_linkat, 4 },
	{ "symlinkat", "pdp", SYS_symlinkat, 3 },
	{ "readlinkat", "dpbl", SYS_readlinkat, 2 },
	{ "fchmodat", "dpm", SYS_fchmodat, 2 },
	{ "faccessat", "dqX", SYS_faccessat, 2 },
	{ "pselect6", "nbbbTb", SYS_pselect6, 1 },
	{ "ppoll", "LXTg8", SYS_ppoll, 1 },
	{ "set_robust_list", "bl", SYS_set_robust_list, 1 },
	{ "utimensat", "dpV%", SYS_utimensat, 2 },
	{ "setxattr", "qpblX", SYS_setxattr, 1 },
	{ "lsetxattr", "qpblX", SYS_lsetxattr, 1 },
	{ "fsetxattr", "fpblX", SYS_fsetxattr, 1 },
	{ "getxattr", "qpbl", SYS_getxattr, 1 },
	{ "lgetxattr", "qpbl", SYS_lgetxattr, 1 },
	{ "fgetxattr", "fpbl", SYS_fgetxattr, 1 },
	{ "listxattr", "qbl", SYS_listxattr, 1 },
	{ "llistxattr", "qbl", SYS_llistxattr, 1 },
	{ "flistxattr", "fbl", SYS_flistxattr, 1 },
	{ "removexattr", "qp", SYS_removexattr, 1 },
	{ "lremovexattr", "qp", SYS_lremovexattr, 1 },
	{ "fremovexattr", "fp", SYS_fremovexattr, 1 },
	{ "fallocate", "fXohlz", SYS_fallocate, 2 },
	{ "dup3", "fNY", SYS_dup3, 2 },
	{ "pipe2", "bY", SYS_pipe2, 4 },
	{ "prlimit64", "PXzb", SYS_prlimit64, 2 },
	{ "syncfs", "f", SYS_syncfs, 1 },
	{ "renameat2", "dpdpX", SYS_renameat2, 4 },
	{ "getrandom", "blX", SYS_getrandom, 2 },
	{ "memfd_create", "pX", SYS_memfd_create, 3 },
	{ "copy_file_range", "fbfblz", SYS_copy_file_range, 4 },
	{ "copy_file_range here", "fzfzlz", SYS_copy_file_range, 4 },
	{ "statx", "dq%nb", SYS_statx, 3 },
	{ "shmget", "kA6", SYS_shmget, 6 },
	{ "shmctl", "j0b", SYS_shmctl, 6 },
	{ "shmat", "ja7", SYS_shmat, 0 },
	{ "shmdt", "@", SYS_shmdt, 6 },
	{ "socketcall", "Xb", SYS_socketcall, 1 },
	{ "socket", "XXX", SYS_socket, 1 },
	{ "socketpair", "XXXb", SYS_socketpair, 1 },
	{ "bind", "fbX", SYS_bind, 1 },
	{ "connect", "fbX", SYS_connect, 1 },
	{ "listen", "fbX", SYS_listen, 1 },
	{ "accept4", "fbX", SYS_accept4, 1 },
	{ "getsockopt", "fbX", SYS_getsockopt, 1 },
	{ "setsockopt", "fbX", SYS_setsockopt, 1 },
	{ "getsockname", "fbX", SYS_getsockname, 1 },
	{ "getpeername", "fbX", SYS_getpeername, 1 },
	{ "sendto", "fbX", SYS_sendto, 1 },
	{ "sendmsg", "fbX", SYS_sendmsg, 1 },
	{ "recvfrom", "fbX", SYS_recvfrom, 1 },
	{ "recvmsg", "fbX", SYS_recvmsg, 1 },
	{ "shutdown", "fbX", SYS_shutdown, 1 },
	{ "recvmmsg", "fbX", SYS_recvmmsg, 1 },
	{ "sendmmsg", "fbX", SYS_sendmmsg, 1 },
	{ "recvmmsg_time64", "fbX", SYS_recvmmsg_time64, 1 },
	{ "clock_gettime64", "ub", SYS_clock_gettime64, 1 },
	{ "clock_settime64", "ub", SYS_clock_settime64, 1 },
	{ "clock_getres_time64", "ub", SYS_clock_getres_time64, 1 },
	{ "clock_nanosleep_time64", "uX^b", SYS_clock_nanosleep_time64, 1 },
	{ "utimensat_time64", "dp^%", SYS_utimensat_time64, 1 },
	{ "pselect6_time64", "nbbb^b", SYS_pselect6_time64, 1 },
	{ "ppoll_time64", "LX^g8", SYS_ppoll_time64, 1 },
	{ "faccessat2", "dqX%", SYS_faccessat2, 2 },
};
/* clang-format on */

const unsigned nr_kinds = ARRAY_SIZE(kinds);
_Static_assert(ARRAY_SIZE(kinds) <= MAX_CALLS, "the board has room for every kind");

static uint32_t weights[MAX_CALLS], total;

static void set_weight(const char *name, size_t length, uint32_t weight)
{
	unsigned k = 0;

	while (k < nr_kinds &&
	       (strlen(kinds[k].name) != length || memcmp(kinds[k].name, name, length)))
		k++;
	if (k == nr_kinds)
		usage_error("storm: --weight: calls as raw=60,mount=60\n");
	weights[k] = weight;
}

void calls_weigh(const char *list)
{
	for (unsigned k = 0; k < nr_kinds; k++)
		weights[k] = kinds[k].weight == NOT_UNASKED ? 0 : kinds[k].weight ?: 8;
	while (*list) {
		size_t length = strcspn(list, "=");
		char *after;
		uint32_t weight = strtoul(list + length + (list[length] != '\0'), &after, 10);

		set_weight(list, length, weight);
		list = after + (*after == ',');
	}
	for (unsigned k = total = 0; k < nr_kinds; k++)
		total += weights[k];
}

bool calls_have(const char *name)
{
	for (unsigned k = 0; k < nr_kinds; k++)
		if (!strcmp(kinds[k].name, name))
			return weights[k];
	return false;
}

const struct kind *draw_kind(uint32_t i)
{
	unsigned k = 0;
	uint32_t left;

	draw_begin(i);
	for (left = draw(total); left >= weights[k]; k++)
		left -= weights[k];
	return &kinds[k];
}
