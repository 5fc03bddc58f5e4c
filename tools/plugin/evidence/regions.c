/*
 * mode=evidence, regions: what lies at an address of the guest.
 *
 * Options. A range is LOW-HIGH, HIGH excluded; several are separated by colons. text=, own=: the
 * student's code, and where it may store. image=: the kernel's image. store=BYTES: physical address of
 * the modelled disk's store, the first above the kernel's memory. pages=: address of the variable
 * mem_map; page_size=; policy=LOW-HIGH: the policy's part of a struct page. Without these three,
 * struct pages are not known, and stores into them not checked. For the other ranges see enum region.
 */
#include "evidence.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANGES = 256 };

struct ranges {
	size_t nr;
	struct {
		uint32_t low, high;
	} at[MAX_RANGES];
};

static struct ranges ranges[NR_REGIONS];
static const char *const names[NR_REGIONS] = {
	"text",    "own",       "image",   "policy",  "deputies",
	"readers", "selectors", "showers", "passers", "killers",
};
static uint64_t store, mem_map_pointer, page_size;

bool region_given(enum region region)
{
	return ranges[region].nr;
}

bool region_contains(enum region region, uint32_t address)
{
	const struct ranges *r = &ranges[region];

	for (size_t i = 0; i < r->nr; i++)
		if (address >= r->at[i].low && address < r->at[i].high)
			return true;
	return false;
}

uint32_t region_border(void)
{
	return store / PAGE_SIZE;
}

/* Returns the offset of an address within its struct page, or page_size if it is not in one. */
static uint32_t in_page(uint32_t address)
{
	static uint32_t mem_map;

	if (!page_size)
		return 0;
	if (!mem_map)
		mem_map = read_word(mem_map_pointer);
	if (address < mem_map || (address - mem_map) / page_size >= region_border())
		return page_size;
	return (address - mem_map) % page_size;
}

bool region_in_pages(uint32_t address)
{
	return in_page(address) < page_size;
}

bool region_is_page(uint32_t address)
{
	return !in_page(address);
}

bool region_is_cores_field(uint32_t address)
{
	uint32_t at = in_page(address);

	return at < page_size && !region_contains(POLICY, at);
}

static bool set_ranges(struct ranges *ranges, const char *value)
{
	for (;; value++) {
		char *end;
		uint32_t low = strtoul(value, &end, 0);

		if (*end != '-' || ranges->nr == MAX_RANGES)
			return false;
		ranges->at[ranges->nr].low = low;
		ranges->at[ranges->nr++].high = strtoul(end + 1, &end, 0);
		value = end;
		if (*value != ':')
			return !*value;
	}
}

bool region_option(const char *name, const char *value)
{
	static const struct number numbers[] = {
		{ "store", &store },
		{ "pages", &mem_map_pointer },
		{ "page_size", &page_size },
	};

	for (size_t i = 0; i < NR_REGIONS; i++)
		if (!strcmp(name, names[i]))
			return set_ranges(&ranges[i], value);
	return NUMBER_OPTION(numbers, name, value);
}

void region_start(void)
{
	if (page_size && (!mem_map_pointer || !ranges[POLICY].nr))
		fail("mode=evidence needs pages= and policy= with page_size=");
}
