/*
 * Socket calls, for a kernel without sockets. They fail as on a Linux without any address family: C
 * libraries open a socket to look up a user or a group, and take EAFNOSUPPORT for an absent server.
 */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/files.h"

#define SOCK_TYPE_MASK 0xfu
#define SOCK_MAX 11u
#define AF_MAX 46u

/* The calls that socketcall numbers, from 1 on. */
enum { CALL_SOCKET = 1, CALL_SOCKETPAIR = 8, NR_CALLS = 20, MAX_ARGS = 6 };

long sys_socket(u32 family, u32 type, u32 protocol)
{
	(void)protocol;
	if (type & ~(SOCK_TYPE_MASK | O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	return family < AF_MAX && (type & SOCK_TYPE_MASK) >= SOCK_MAX ? -EINVAL : -EAFNOSUPPORT;
}

long sys_socketpair(u32 family, u32 type, u32 protocol, void *fds)
{
	(void)fds;
	return sys_socket(family, type, protocol);
}

/* The first argument of each call on a socket is its descriptor. */
long sys_bind(u32 fd)
{
	return fd_file(fd) ? -ENOTSOCK : -EBADF;
}

long sys_socketcall(u32 call, const u32 *user)
{
	static const u8 nr_args[NR_CALLS + 1] = { 0, 3, 3, 3, 2, 3, 3, 3, 4, 4, 4,
						  6, 6, 2, 5, 5, 3, 3, 4, 5, 4 };
	u32 args[MAX_ARGS];

	if (!call || call > NR_CALLS)
		return -EINVAL;
	if (copy_from_user(args, user, nr_args[call] * sizeof(*args)))
		return -EFAULT;
	if (call == CALL_SOCKET || call == CALL_SOCKETPAIR)
		return sys_socket(args[0], args[1], args[2]);
	return sys_bind(args[0]);
}
