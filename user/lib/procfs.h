/* Reads /proc for the processor and the processes. */
#ifndef USER_PROCFS_H
#define USER_PROCFS_H

#include "lib.h"

/* Processor time since boot in ticks. */
struct cpu_times {
	unsigned long long user, nice, system, idle, iowait;
};

/* Parses the text of /proc/stat. */
struct cpu_times cpu_times_parse(const char *stat);
unsigned long long cpu_times_total(const struct cpu_times *t);

/* One process, from /proc/<pid>/stat. */
struct process {
	int pid, ppid, nice;
	char state, name[32];
	unsigned long minflt, majflt, utime, stime, vsize;
	long rss;
};

/* Returns false if the process no longer exists. */
bool process_read(int pid, struct process *p);

/* Fill @list with up to @max processes in the order of /proc. Returns their number. */
int process_list(struct process *list, int max);

#endif
