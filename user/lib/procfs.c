/* Reads /proc for the processor and the processes. */
#include "procfs.h"

struct cpu_times cpu_times_parse(const char *stat)
{
	struct cpu_times t = { 0 };

	sscanf(stat, "cpu %llu %llu %llu %llu %llu", &t.user, &t.nice, &t.system, &t.idle,
	       &t.iowait);
	return t;
}

unsigned long long cpu_times_total(const struct cpu_times *t)
{
	return t->user + t->nice + t->system + t->idle + t->iowait;
}

bool process_read(int pid, struct process *p)
{
	char path[32], text[512], *name, *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_file(path, text, sizeof(text)) <= 0)
		return false;
	/* The name may contain blanks and brackets: it ends at the last ')'. */
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || end < name)
		return false;
	*end = '\0';
	p->pid = pid;
	snprintf(p->name, sizeof(p->name), "%s", name + 1);
	return sscanf(end + 1,
		      " %c %d %*s %*s %*s %*s %*s %lu %*s %lu %*s %lu %lu %*s %*s %*s %d %*s %*s "
		      "%*s %lu %ld",
		      &p->state, &p->ppid, &p->minflt, &p->majflt, &p->utime, &p->stime, &p->nice,
		      &p->vsize, &p->rss) == 9;
}

int process_list(struct process *list, int max)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int nr = 0;

	if (!dir)
		die_errno("/proc");
	while (nr < max && (entry = readdir(dir))) {
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    process_read(atoi(entry->d_name), &list[nr]))
			nr++;
	}
	closedir(dir);
	return nr;
}
