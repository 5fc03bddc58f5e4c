/* What /proc tells about the processor and about processes. */
#ifndef USER_PROCFS_H
#define USER_PROCFS_H

#include "lib.h"

/* Processor time since boot in ticks. */
struct cpu_times {
	unsigned long long user, nice, system, idle, iowait;
};

/* From the text of /proc/stat. */
struct cpu_times cpu_times_parse(const char *stat);
unsigned long long cpu_times_total(const struct cpu_times *t);

/* One process as /proc/<pid>/stat tells it. */
struct process {
	int pid, ppid, nice;
	char state, name[32];
	unsigned long minflt, majflt, utime, stime, vsize;
	long rss;
};

/* False when the process has gone meanwhile. */
bool process_read(int pid, struct process *p);

/* Fill @list with up to @max processes in the order of /proc. Returns how many. */
int process_list(struct process *list, int max);

#endif
