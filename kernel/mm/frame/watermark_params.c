/* The parameters vm.min_free_kbytes and vm.lowmem_reserve_ratio of the watermarks (watermarks.c). */
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/zone.h"

/* Does nothing before the zones have frames. */
static void set_again(void)
{
	if (nr_managed_pages())
		zones_set_watermarks();
}

static const char *parse_min_free(const char *text)
{
	u32 kib;

	if (parse_u32(text, &kib) || kib > MAX_MIN_FREE)
		return "not a number of KiB in range";
	min_free_kbytes = kib;
	set_again();
	return NULL;
}

static void list_min_free(char *buf, size_t size)
{
	snprintf(buf, size, "0..%u KiB", MAX_MIN_FREE);
}

static void show_min_free(char *buf, size_t size)
{
	snprintf(buf, size, "%u", min_free_kbytes);
}

PARAM_CALL("vm.min_free_kbytes", parse_min_free, list_min_free, show_min_free,
	   "kept free for the kernel; 0: chosen by memory size");

/* Parses numbers separated by blanks. If there are fewer numbers than zones, the other zones keep theirs. */
static const char *parse_ratio(const char *text)
{
	char copy[40], *word = copy;
	u32 ratio[MAX_ZONES], nr = 0;

	if (strlcpy(copy, text, sizeof(copy)) >= sizeof(copy))
		return "too long";
	while (*word) {
		char *end = word;

		while (*end && *end != ' ' && *end != '\t')
			end++;
		if (*end)
			*end++ = '\0';
		if (*word && (nr == MAX_ZONES || parse_u32(word, &ratio[nr++])))
			return "not a number for each zone";
		word = end;
	}
	memcpy(lowmem_reserve_ratio, ratio, nr * sizeof(*ratio));
	set_again();
	return NULL;
}

static void list_ratio(char *buf, size_t size)
{
	strlcpy(buf, "a number each for DMA, Normal and HighMem", size);
}

static void show_ratio(char *buf, size_t size)
{
	snprintf(buf, size, "%u %u %u", lowmem_reserve_ratio[ZONE_DMA],
		 lowmem_reserve_ratio[ZONE_NORMAL], lowmem_reserve_ratio[ZONE_HIGHMEM]);
}

PARAM_CALL("vm.lowmem_reserve_ratio", parse_ratio, list_ratio, show_ratio,
	   "1/N of the frames of higher zones stays free in this one; 0: none");
