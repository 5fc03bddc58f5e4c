/* Which of the random calls are made: all, or a list of ranges such as "3-7,12", also given as /FILE. */
#include "storm.h"

enum { MAX_RANGES = 20000 };

static struct range {
	uint32_t first, last;
} ranges[MAX_RANGES];
static unsigned nr_ranges;

static void parse(const char *text)
{
	while (*text) {
		char *after;
		struct range r;

		r.first = r.last = strtoul(text, &after, 10);
		if (*after == '-')
			r.last = strtoul(after + 1, &after, 10);
		if (after == text || nr_ranges == MAX_RANGES ||
		    (*after && *after != ',' && *after != '\n'))
			usage_error("storm: --keep: ranges as 3-7,12\n");
		ranges[nr_ranges++] = r;
		text = after + (*after != '\0');
	}
}

void keep_parse(const char *list)
{
	static char text[MAX_RANGES * 10];

	if (*list != '/') {
		parse(list);
		return;
	}
	if (read_file(list, text, sizeof(text)) < 0)
		die_errno(list);
	parse(text);
}

bool keep_any(uint32_t first, uint32_t end)
{
	for (unsigned r = 0; r < nr_ranges; r++)
		if (ranges[r].first < end && ranges[r].last >= first)
			return true;
	return !nr_ranges;
}

bool keep_has(uint32_t i)
{
	return keep_any(i, i + 1);
}
