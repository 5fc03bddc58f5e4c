/* The results of each kind of call: number of successes, and of failures by error; @ is the first call with it. */
#include "storm.h"

#define NAME(error) [error] = #error

static const char *const names[NR_ERRORS] = {
	NAME(EPERM),     NAME(ENOENT),     NAME(ESRCH),    NAME(EINTR),        NAME(EIO),
	NAME(ENXIO),     NAME(E2BIG),      NAME(ENOEXEC),  NAME(EBADF),        NAME(ECHILD),
	NAME(EAGAIN),    NAME(ENOMEM),     NAME(EACCES),   NAME(EFAULT),       NAME(ENOTBLK),
	NAME(EBUSY),     NAME(EEXIST),     NAME(EXDEV),    NAME(ENODEV),       NAME(ENOTDIR),
	NAME(EISDIR),    NAME(EINVAL),     NAME(ENFILE),   NAME(EMFILE),       NAME(ENOTTY),
	NAME(ETXTBSY),   NAME(EFBIG),      NAME(ENOSPC),   NAME(ESPIPE),       NAME(EROFS),
	NAME(EMLINK),    NAME(EPIPE),      NAME(EDOM),     NAME(ERANGE),       NAME(EDEADLK),
	NAME(ENOLCK),    NAME(ENOSYS),     NAME(ELOOP),    NAME(ENAMETOOLONG), NAME(ENOTEMPTY),
	NAME(EOVERFLOW), NAME(EOPNOTSUPP), NAME(ENOTSOCK), NAME(EAFNOSUPPORT),
};

static void print_kind(const struct kind *kind)
{
	const struct cell *cells = board->cells[kind - kinds];

	printf("storm: %s: ok=%u", kind->name, cells[0].nr);
	for (int error = 1; error < NR_ERRORS; error++) {
		if (!cells[error].nr)
			continue;
		if (names[error])
			printf(" %s=%u@%u", names[error], cells[error].nr, cells[error].first);
		else
			printf(" E%d=%u@%u", error, cells[error].nr, cells[error].first);
	}
	printf("\n");
}

void report(void)
{
	for (unsigned k = 0; k < nr_kinds; k++)
		print_kind(&kinds[k]);
}
