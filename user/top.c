/* top: the processes that use the processor most, redrawn every few seconds. */
#include "procfs.h"
#include <sys/ioctl.h>

#define HELP                                                                                       \
	"usage: top [-n N] [-d SECONDS]\n"                                                         \
	"Processes by the processor time they used since the picture before.\n"                    \
	"  -n  end after N pictures (default: until ^C)\n"                                         \
	"  -d  time between them (default 3)\n"

enum { MAX_PROCESSES = 512, HEADER_LINES = 6 };

struct picture {
	struct cpu_times cpu;
	int nr;
	struct process list[MAX_PROCESSES];
	unsigned long used[MAX_PROCESSES]; /* ticks since the previous picture */
};

static struct picture pictures[2];
static struct picture *current;

static unsigned long ticks_before(const struct picture *p, int pid)
{
	for (int i = 0; i < p->nr; i++) {
		if (p->list[i].pid == pid)
			return p->list[i].utime + p->list[i].stime;
	}
	return 0;
}

static void take_picture(struct picture *p, const struct picture *before)
{
	char text[4096];

	if (read_file("/proc/stat", text, sizeof(text)) < 0)
		die_errno("/proc/stat");
	p->cpu = cpu_times_parse(text);
	p->nr = process_list(p->list, MAX_PROCESSES);
	for (int i = 0; i < p->nr; i++)
		p->used[i] =
			p->list[i].utime + p->list[i].stime - ticks_before(before, p->list[i].pid);
}

static int by_use(const void *a, const void *b)
{
	int i = *(const int *)a, j = *(const int *)b;

	if (current->used[i] != current->used[j])
		return current->used[i] > current->used[j] ? -1 : 1;
	return i - j;
}

/* Prints a share of @total in tenths of a percent, as 12.3. */
static void print_share(unsigned long long part, unsigned long long total, const char *after)
{
	unsigned long long tenths = total ? part * 1000 / total : 0;

	printf("%3llu.%llu%s", tenths / 10, tenths % 10, after);
}

static void print_header(const struct picture *p, const struct cpu_times *from,
			 unsigned long long total)
{
	int nr_running = 0;
	char text[4096];

	for (int i = 0; i < p->nr; i++)
		nr_running += p->list[i].state == 'R';
	printf("Tasks: %d total, %d running\n%%Cpu:", p->nr, nr_running);
	print_share(p->cpu.user + p->cpu.nice - from->user - from->nice, total, " us,");
	print_share(p->cpu.system - from->system, total, " sy,");
	print_share(p->cpu.idle - from->idle, total, " id,");
	print_share(p->cpu.iowait - from->iowait, total, " wa\n");
	if (read_file("/proc/meminfo", text, sizeof(text)) > 0)
		printf("KiB Mem: %llu total, %llu free   Swap: %llu total, %llu free\n",
		       file_value(text, "MemTotal"), file_value(text, "MemFree"),
		       file_value(text, "SwapTotal"), file_value(text, "SwapFree"));
	if (read_file("/proc/vm/policy", text, sizeof(text)) > 0)
		printf("Policy: %.*s\n", (int)strcspn(text, "\n"), text);
}

static void draw(const struct picture *p, const struct picture *before, int nr_lines)
{
	unsigned long long total = cpu_times_total(&p->cpu) - cpu_times_total(&before->cpu);
	int order[MAX_PROCESSES];

	for (int i = 0; i < p->nr; i++)
		order[i] = i;
	qsort(order, p->nr, sizeof(*order), by_use);
	print_header(p, &before->cpu, total);
	printf("\n  PID  PPID S  NI    VSZ    RSS  MINFLT  MAJFLT  %%CPU     TIME COMMAND\n");
	for (int i = 0; i < p->nr && i < nr_lines; i++) {
		const struct process *t = &p->list[order[i]];
		unsigned long cs = (t->utime + t->stime) * 100 / TICKS_PER_SECOND;

		printf("%5d %5d %c %3d %6lu %6ld %7lu %7lu ", t->pid, t->ppid, t->state, t->nice,
		       t->vsize / 1024, t->rss * PAGE_KB, t->minflt, t->majflt);
		print_share(p->used[order[i]], total, " ");
		printf("%5lu.%02lu %s\n", cs / 100, cs % 100, t->name);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long nr_pictures = INT32_MAX, delay_ms = 3000;
	struct winsize size = { 0 };
	bool on_terminal;
	int c;

	help_if_asked(argc, argv, HELP);
	while ((c = getopt(argc, argv, "n:d:")) != -1) {
		if (c == 'n')
			nr_pictures = parse_number(optarg, "-n", 1, INT32_MAX);
		else if (c == 'd')
			delay_ms = parse_seconds_ms(optarg, "-d");
		else
			usage_error(HELP);
	}
	on_terminal = !ioctl(1, TIOCGWINSZ, &size);
	if (size.ws_row <= HEADER_LINES)
		size.ws_row = on_terminal ? 24 : MAX_PROCESSES;
	for (long i = 0; i < nr_pictures; i++) {
		current = &pictures[i % 2];
		take_picture(current, &pictures[(i + 1) % 2]);
		if (on_terminal)
			printf("\033[H\033[J");
		draw(current, &pictures[(i + 1) % 2], size.ws_row - HEADER_LINES);
		if (i + 1 < nr_pictures)
			sleep_ms(delay_ms);
	}
	return 0;
}
