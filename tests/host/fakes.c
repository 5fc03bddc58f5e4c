/* Functions that kernel code calls and a host program lacks: panic, printk, frames of memory, KTAP. */
#include "host/host.h"
#include "lib/assert.h"
#include "lib/printf.h"
#include "mm/zone.h"
#include "observe/fail.h"
#include <stdlib.h>
#include <string.h>
#include "../../kernel/lib/ktap.c"

enum { MOST_PRINTED = 1 << 20 /* bytes, by printk */ };

jmp_buf *host_panic_exit;
char host_panic_message[256];
char *host_ram;
struct page *mem_map;
u32 max_pfn;
struct zone zones[MAX_ZONES];
u32 host_fail_in;

static enum fail_how count_request(const struct block_device *bdev, u32 sector, bool write)
{
	(void)bdev, (void)sector, (void)write;
	return host_fail_in && !--host_fail_in ? FAILS : FAILS_NOT;
}

bool (*fail_count_alloc)(void);
enum fail_how (*fail_count_request)(const struct block_device *bdev, u32 sector,
				    bool write) = count_request;

void panic(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(host_panic_message, sizeof(host_panic_message), fmt, args);
	va_end(args);
	if (host_panic_exit)
		longjmp(*host_panic_exit, 1);
	fprintf(stderr, "panic: %s\n", host_panic_message);
	abort();
}

/* Prints up to a limit, so that the output of the sanitizers stays visible. */
int printk(const char *fmt, ...)
{
	static size_t printed;
	va_list args;
	int n;

	if (printed > MOST_PRINTED)
		return 0;
	va_start(args, fmt);
	n = vfprintf(stderr, fmt, args);
	va_end(args);
	printed += MAX(n, 0);
	return n;
}

void host_ram_create(u32 nr_frames)
{
	host_ram_destroy();
	max_pfn = nr_frames;
	mem_map = calloc(nr_frames, sizeof(struct page));
	host_ram = aligned_alloc(PAGE_SIZE, nr_frames * PAGE_SIZE);
	memset(zones, 0, sizeof(zones));
}

void host_ram_destroy(void)
{
	free(mem_map);
	free(host_ram);
	mem_map = NULL;
	host_ram = NULL;
}

u32 host_bound(const char *variable, u32 otherwise)
{
	const char *value = getenv(variable);

	return value ? strtoul(value, NULL, 0) : otherwise;
}

void clear_page(void *page)
{
	memset(page, 0, PAGE_SIZE);
}

void copy_page(void *to, const void *from)
{
	memcpy(to, from, PAGE_SIZE);
}
