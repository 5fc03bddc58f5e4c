/* vmstat: processes, memory, swapping and processor time, one line per interval. */
#include "procfs.h"

#define HELP                                                                                       \
	"usage: vmstat [DELAY [COUNT]]\n"                                                          \
	"One line about the time since boot, then one every DELAY seconds:\n"                      \
	"  r b      processes that run or could, and that wait for the disk\n"                     \
	"  swpd free  KiB of swap in use, of memory free\n"                                        \
	"  buff cache  KiB of files in memory: of devices themselves, of others\n"                 \
	"  si so    KiB per second read from swap, written to it\n"                                \
	"  bi bo    KiB per second of files, read from disks and written\n"                        \
	"  us sy id wa  percent of time in programs, in the kernel, idle, idle with\n"             \
	"           the disk busy\n"

struct sample {
	struct cpu_times cpu;
	unsigned long long running, blocked, swap_used_kb, free_kb, buffers_kb, cached_kb;
	unsigned long long pages_in, pages_out, files_in_kb, files_out_kb;
};

static struct sample take_sample(void)
{
	static char text[16384];
	struct sample s = { 0 };

	if (read_file("/proc/stat", text, sizeof(text)) < 0)
		die_errno("/proc/stat");
	s.cpu = cpu_times_parse(text);
	s.running = file_value(text, "procs_running");
	s.blocked = file_value(text, "procs_blocked");
	if (read_file("/proc/meminfo", text, sizeof(text)) < 0)
		die_errno("/proc/meminfo");
	s.swap_used_kb = file_value(text, "SwapTotal") - file_value(text, "SwapFree");
	s.free_kb = file_value(text, "MemFree");
	s.buffers_kb = file_value(text, "Buffers");
	s.cached_kb = file_value(text, "Cached");
	if (read_file("/proc/vmstat", text, sizeof(text)) < 0)
		die_errno("/proc/vmstat");
	s.pages_in = file_value(text, "pswpin");
	s.pages_out = file_value(text, "pswpout");
	s.files_in_kb = file_value(text, "pgpgin");
	s.files_out_kb = file_value(text, "pgpgout");
	return s;
}

static void print_interval(const struct sample *from, const struct sample *to,
			   unsigned long long ms)
{
	unsigned long long ticks = cpu_times_total(&to->cpu) - cpu_times_total(&from->cpu);
	unsigned long long user = to->cpu.user + to->cpu.nice - from->cpu.user - from->cpu.nice;

	/* Avoids division by zero: no ticks in the interval, or a first line at time 0. */
	ticks += !ticks;
	ms += !ms;
	printf("%2llu %2llu %7llu %7llu %6llu %7llu %5llu %5llu %5llu %5llu %3llu %3llu %3llu "
	       "%3llu\n",
	       to->running, to->blocked, to->swap_used_kb, to->free_kb, to->buffers_kb,
	       to->cached_kb, (to->pages_in - from->pages_in) * PAGE_KB * 1000 / ms,
	       (to->pages_out - from->pages_out) * PAGE_KB * 1000 / ms,
	       (to->files_in_kb - from->files_in_kb) * 1000 / ms,
	       (to->files_out_kb - from->files_out_kb) * 1000 / ms, user * 100 / ticks,
	       (to->cpu.system - from->cpu.system) * 100 / ticks,
	       (to->cpu.idle - from->cpu.idle) * 100 / ticks,
	       (to->cpu.iowait - from->cpu.iowait) * 100 / ticks);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct sample from = { 0 }, to;
	unsigned long long ms;
	long delay_ms, count;

	help_if_asked(argc, argv, HELP);
	delay_ms = argc > 1 ? parse_seconds_ms(argv[1], "DELAY") : 0;
	count = argc > 2 ? parse_number(argv[2], "COUNT", 1, INT32_MAX) : argc > 1 ? INT32_MAX : 1;
	printf("procs ------------memory------------- ---swap---- ----files---- -----cpu-----\n");
	printf(" r  b    swpd    free   buff   cache    si    so    bi    bo  us  sy  id  wa\n");
	to = take_sample();
	ms = cpu_times_total(&to.cpu) * (1000 / TICKS_PER_SECOND);
	print_interval(&from, &to, ms);
	while (--count > 0) {
		sleep_ms(delay_ms);
		from = to;
		to = take_sample();
		print_interval(&from, &to, delay_ms);
	}
	return 0;
}
