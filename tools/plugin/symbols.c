/*
 * The kernel's functions by address, from the output of `nm -n` (build/tidemark.elf.nm). A function is
 * the code between two symbols; if several symbols have one address the last one counts, as in the
 * kernel's own backtraces.
 */
#include "symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct function {
	uint32_t address;
	char *name;
} functions[MAX_FUNCTIONS];
static size_t nr_functions;

/* Selects the same symbols as tools/ksyms.awk. */
static bool is_function(uint32_t address, char type, const char *name)
{
	return (type == 't' || type == 'T') && address >= KERNEL_BASE && strncmp(name, ".L", 2) &&
	       strcmp(name, "__text_start") && strcmp(name, "__text_end");
}

void symbols_read(const char *file_name)
{
	FILE *file = fopen(file_name, "r");
	char line[256], name[200], type;
	uint32_t address;

	if (!file)
		fail("%s cannot be read: %s", file_name, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%x %c %199s", &address, &type, name) != 3 ||
		    !is_function(address, type, name))
			continue;
		if (nr_functions == MAX_FUNCTIONS)
			fail("%s has more than %d functions", file_name, MAX_FUNCTIONS);
		functions[nr_functions].address = address;
		functions[nr_functions++].name = strdup(name);
	}
	fclose(file);
	if (!nr_functions)
		fail("%s has no function of the kernel; `nm -n` makes such files", file_name);
}

size_t symbols_count(void)
{
	return nr_functions;
}

const char *symbol_name(size_t function)
{
	return functions[function].name;
}

bool symbol_begins(size_t function, uint32_t pc)
{
	return functions[function].address == pc;
}

size_t symbol_of(uint32_t pc)
{
	size_t low = 0, high = nr_functions;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (functions[middle].address <= pc)
			low = middle;
		else
			high = middle;
	}
	return low;
}
