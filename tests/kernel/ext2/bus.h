/* Access to memory that may be behind the end of its file, or on a disk that has failed. */
#ifndef EXT2_BUS_H
#define EXT2_BUS_H

#include <setjmp.h>
#include <signal.h>

static sigjmp_buf bus_error;

static void on_bus(int sig)
{
	(void)sig;
	siglongjmp(bus_error, 1);
}

/* Returns the byte at an address, or -1 after SIGBUS, which on_bus must handle. */
static int peek(const volatile char *at)
{
	return sigsetjmp(bus_error, 1) ? -1 : *at;
}

#endif
