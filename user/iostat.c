/*
 * iostat: the activity of each disk, from /proc/diskstats. The columns are those of sysstat's
 * `iostat -dx` for which this kernel has counters.
 */
#include "lib.h"

#define HELP                                                                                       \
	"usage: iostat [DELAY [COUNT]]\n"                                                          \
	"Disks since boot, then every DELAY seconds what they did in that time:\n"                 \
	"  r/s rkB/s rrqm/s    reads, KiB read, reads that joined another one, a second\n"         \
	"  r_await rareq-sz    ms that a read took, with waiting; its KiB\n"                       \
	"  w/s and so on       the same of writes\n"                                               \
	"  aqu-sz %util        requests under way on average; share of time with one being\n"      \
	"                      served, which is not counted for partitions\n"

enum { MAX_DISKS = 32 };
enum { READS, WRITES };

struct direction {
	unsigned long long requests, merged, sectors, ms;
};

struct disk {
	char name[32];
	struct direction way[2];
	unsigned long long busy_ms, wait_ms;
};

struct sample {
	unsigned long long at_ms;
	int nr;
	struct disk disk[MAX_DISKS];
};

static unsigned long long uptime_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

static bool parse_disk(const char *line, struct disk *d)
{
	struct direction *r = &d->way[READS], *w = &d->way[WRITES];

	return sscanf(line, "%*u %*u %31s %llu %llu %llu %llu %llu %llu %llu %llu %*u %llu %llu",
		      d->name, &r->requests, &r->merged, &r->sectors, &r->ms, &w->requests,
		      &w->merged, &w->sectors, &w->ms, &d->busy_ms, &d->wait_ms) == 11;
}

static void take_sample(struct sample *s)
{
	static char text[8192];

	if (read_file("/proc/diskstats", text, sizeof(text)) < 0)
		die_errno("/proc/diskstats");
	s->at_ms = uptime_ms();
	s->nr = 0;
	for (char *line = strtok(text, "\n"); line && s->nr < MAX_DISKS; line = strtok(NULL, "\n"))
		s->nr += parse_disk(line, &s->disk[s->nr]);
}

/* Prints dividend / divisor with two decimals, or 0 if the divisor is 0. */
static void put_ratio(int width, unsigned long long dividend, unsigned long long divisor)
{
	unsigned long long hundredths = divisor ? dividend * 100 / divisor : 0;

	printf(" %*llu.%02llu", width - 3, hundredths / 100, hundredths % 100);
}

static void put_direction(const struct direction *from, const struct direction *to,
			  unsigned long long ms)
{
	unsigned long long requests = to->requests - from->requests;

	put_ratio(8, requests * 1000, ms);
	put_ratio(10, (to->sectors - from->sectors) * 1000 / 2, ms);
	put_ratio(8, (to->merged - from->merged) * 1000, ms);
	put_ratio(8, to->ms - from->ms, requests);
	put_ratio(9, (to->sectors - from->sectors) / 2, requests);
}

/* @from is the disk in the previous sample; a disk keeps its place in the list. */
static void put_disk(const struct disk *from, const struct disk *to, unsigned long long ms)
{
	printf("%-8s", to->name);
	put_direction(&from->way[READS], &to->way[READS], ms);
	put_direction(&from->way[WRITES], &to->way[WRITES], ms);
	put_ratio(8, to->wait_ms - from->wait_ms, ms);
	put_ratio(7, (to->busy_ms - from->busy_ms) * 100, ms);
	printf("\n");
}

static void put_interval(const struct sample *from, const struct sample *to)
{
	printf("%-8s %8s %10s %8s %8s %9s %8s %10s %8s %8s %9s %8s %7s\n", "Device", "r/s", "rkB/s",
	       "rrqm/s", "r_await", "rareq-sz", "w/s", "wkB/s", "wrqm/s", "w_await", "wareq-sz",
	       "aqu-sz", "%util");
	for (int i = 0; i < to->nr; i++)
		put_disk(&from->disk[i], &to->disk[i], to->at_ms - from->at_ms);
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct sample sample[2];
	long delay_ms, count;

	help_if_asked(argc, argv, HELP);
	delay_ms = argc > 1 ? parse_seconds_ms(argv[1], "DELAY") : 0;
	count = argc > 2 ? parse_number(argv[2], "COUNT", 1, INT32_MAX) : argc > 1 ? INT32_MAX : 1;
	for (int now = 1; count--; now = !now) {
		take_sample(&sample[now]);
		put_interval(&sample[!now], &sample[now]);
		if (count)
			sleep_ms(delay_ms);
	}
	return 0;
}
