/* free: memory and swap in use, from /proc/meminfo. */
#include "lib.h"

#define HELP                                                                                       \
	"usage: free\n"                                                                            \
	"Memory and swap space in KiB.\n"

int main(int argc, char **argv)
{
	static char text[4096];
	unsigned long long total, free, cache, swap_total, swap_free;

	help_if_asked(argc, argv, HELP);
	if (read_file("/proc/meminfo", text, sizeof(text)) < 0)
		die_errno("/proc/meminfo");
	total = file_value(text, "MemTotal");
	free = file_value(text, "MemFree");
	cache = file_value(text, "Buffers") + file_value(text, "Cached") +
		file_value(text, "SReclaimable");
	swap_total = file_value(text, "SwapTotal");
	swap_free = file_value(text, "SwapFree");
	printf("%18s %11s %11s %11s %11s %11s\n", "total", "used", "free", "shared", "buff/cache",
	       "available");
	printf("Mem:  %12llu %11llu %11llu %11llu %11llu %11llu\n", total, total - free - cache,
	       free, file_value(text, "Shmem"), cache, file_value(text, "MemAvailable"));
	printf("Swap: %12llu %11llu %11llu\n", swap_total, swap_total - swap_free, swap_free);
	return 0;
}
