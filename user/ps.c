/* ps: the processes, from /proc/<pid>/stat. */
#include "procfs.h"

#define HELP                                                                                       \
	"usage: ps\n"                                                                              \
	"List all processes: state, nice value, virtual and resident memory in KiB,\n"             \
	"minor and major page faults, and processor time.\n"

enum { MAX_PROCESSES = 512 };

static struct process list[MAX_PROCESSES];

int main(int argc, char **argv)
{
	int nr;

	help_if_asked(argc, argv, HELP);
	nr = process_list(list, MAX_PROCESSES);
	printf("  PID  PPID S  NI    VSZ    RSS  MINFLT  MAJFLT     TIME COMMAND\n");
	for (const struct process *p = list; p < list + nr; p++) {
		unsigned long cs = (p->utime + p->stime) * 100 / TICKS_PER_SECOND;

		printf("%5d %5d %c %3d %6lu %6ld %7lu %7lu %5lu.%02lu %s\n", p->pid, p->ppid,
		       p->state, p->nice, p->vsize / 1024, p->rss * PAGE_KB, p->minflt, p->majflt,
		       cs / 100, cs % 100, p->name);
	}
	return 0;
}
