/*
 * swapon, swapoff and mkswap: enable, disable and prepare swap areas. One program under three
 * names, since each program costs memory even while it does not run.
 */
#include "lib.h"

#include <sys/swap.h>

#define ON_HELP                                                                                    \
	"usage: swapon [-p PRIORITY] DEVICE|FILE...\n"                                             \
	"       swapon [-s]\n"                                                                     \
	"Use swap areas that mkswap has prepared; without a device, list those in use.\n"          \
	"-p: from 0 to 32767, the highest is filled first, equal ones take turns; without it\n"    \
	"each area gets a lower priority than those before.\n"

#define OFF_HELP                                                                                   \
	"usage: swapoff DEVICE|FILE...\n"                                                          \
	"Read back what lies in swap areas, and use them no longer. Fails when there is no room.\n"

#define MAKE_HELP                                                                                  \
	"usage: mkswap [-b PAGE]... DEVICE|FILE\n"                                                 \
	"Write the header of a swap area into the first page of the device; its size is the\n"     \
	"area's. -b: this page, counted from 0, is bad and never used.\n"

#define MAX_BAD 637

/* Version 1 of Linux's header. */
struct header {
	char boot_sectors[1024];
	uint32_t version, last_page, nr_bad;
	char uuid[16], label[16];
	uint32_t padding[117];
	uint32_t bad[MAX_BAD];
	char rest[2];
	char signature[10] __attribute__((nonstring));
};

_Static_assert(sizeof(struct header) == PAGE_KB * 1024, "the header is a page");

static int list(void)
{
	static char text[4096];

	if (read_file("/proc/swaps", text, sizeof(text)) < 0)
		die_errno("/proc/swaps");
	fputs(text, stdout);
	return 0;
}

static int swap_on(int argc, char **argv)
{
	int flags = 0, first = 1, status = 0;

	help_if_asked(argc, argv, ON_HELP);
	if (argc == 1 || (argc == 2 && !strcmp(argv[1], "-s")))
		return list();
	if (argc > 2 && !strcmp(argv[1], "-p")) {
		flags = SWAP_FLAG_PREFER | (int)parse_number(argv[2], "priority", 0, 32767);
		first = 3;
	}
	if (first == argc || argv[first][0] == '-')
		usage_error(ON_HELP);
	for (int i = first; i < argc; i++) {
		if (!swapon(argv[i], flags))
			continue;
		warn_errno(argv[i]);
		status = 1;
	}
	return status;
}

static int swap_off(int argc, char **argv)
{
	int status = 0;

	help_if_asked(argc, argv, OFF_HELP);
	if (argc < 2)
		usage_error(OFF_HELP);
	for (int i = 1; i < argc; i++) {
		if (!swapoff(argv[i]))
			continue;
		warn_errno(argv[i]);
		status = 1;
	}
	return status;
}

static void read_bad_pages(struct header *h, char **words, int nr)
{
	for (int i = 0; i + 1 < nr; i += 2) {
		if (strcmp(words[i], "-b") || h->nr_bad == MAX_BAD)
			usage_error(MAKE_HELP);
		h->bad[h->nr_bad++] = (uint32_t)parse_number(words[i + 1], "page", 1, 1 << 24);
	}
}

static int make(int argc, char **argv)
{
	static struct header h = { .version = 1, .signature = "SWAPSPACE2" };
	char *device = argv[argc - 1];
	off_t size;
	int fd;

	help_if_asked(argc, argv, MAKE_HELP);
	if (argc < 2 || argc % 2)
		usage_error(MAKE_HELP);
	read_bad_pages(&h, argv + 1, argc - 2);
	fd = open(device, O_RDWR);
	size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	if (size < 0)
		die_errno(device);
	if (size < 2 * (off_t)sizeof(h)) {
		warn_user("%s: %lld bytes; a swap area has two pages at least", device,
			  (long long)size);
		return 1;
	}
	h.last_page = (uint32_t)(size / (off_t)sizeof(h)) - 1;
	if (pwrite(fd, &h, sizeof(h), 0) != sizeof(h) || fsync(fd) || close(fd))
		die_errno(device);
	printf("%s: swap area of %u kB\n", device, (h.last_page - h.nr_bad) * PAGE_KB);
	return 0;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];

	if (!strcmp(name, "mkswap"))
		return make(argc, argv);
	return strcmp(name, "swapoff") ? swap_on(argc, argv) : swap_off(argc, argv);
}
