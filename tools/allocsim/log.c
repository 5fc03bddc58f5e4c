/*
 * Reading a log of the kernel's allocations, whose format is at the top of tools/plugin/alloc.c.
 *
 * A log that is cut short, of another version, or that contradicts itself ends the program with a
 * sentence that names the line. To see such contradictions, the reader keeps a table of the frames and
 * objects in use. Frames are small numbers, objects lie above 3 GiB: one table serves both.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 1
#define NR_BUCKETS (1u << 16)

static const char *log_name;
static FILE *file;
static u32 line_nr;

static struct live {
	struct live *next;
	u32 address;
	struct handle handle;
} *buckets[NR_BUCKETS];

static struct live **find(u32 address)
{
	struct live **at = &buckets[(address ^ address >> 16) % NR_BUCKETS];

	while (*at && (*at)->address != address)
		at = &(*at)->next;
	return at;
}

static void forget_all(void)
{
	for (u32 i = 0; i < NR_BUCKETS; i++)
		for (struct live *l = buckets[i], *next; l; l = next) {
			next = l->next;
			free(l);
		}
	memset(buckets, 0, sizeof(buckets));
}

void log_open(const char *name)
{
	char line[200];
	u32 version;

	forget_all();
	log_name = name;
	line_nr = 1;
	if (file)
		fclose(file);
	file = fopen(name, "r");
	if (!file)
		bad("%s cannot be read: %m", name);
	if (!fgets(line, sizeof(line), file) || sscanf(line, "tidemark-alloc %u", &version) != 1)
		bad("%s is not a log of allocations", name);
	if (version != VERSION)
		bad("%s is of version %u, this program reads version %u", name, version, VERSION);
}

static bool parsed(struct event *e, const char *line)
{
	*e = (struct event){ .kind = line[0] };
	switch (e->kind) {
	case 'z':
		return sscanf(line, "z %x %x", &e->address, &e->size) == 2;
	case 'c':
		return sscanf(line, "c %u %u %63s", &e->size, &e->number, e->name) == 3;
	case 'p':
	case 'q':
	case 'g':
		return sscanf(line + 1, "%u %u %x %63s", &e->number, &e->size, &e->address,
			      e->name) == 4 &&
		       e->size < MAX_ORDER;
	case 'a':
		return sscanf(line, "a %x %u %u %63s", &e->address, &e->size, &e->number,
			      e->name) == 4;
	case 'f':
		return sscanf(line, "f %x %63s", &e->address, e->name) == 2;
	case 's':
		return sscanf(line, "s %63s", e->name) == 1;
	}
	return !strcmp(line, "r\n");
}

static void allocated(struct event *e, struct live **at)
{
	if (*at)
		bad("%s, line %u: %x is allocated twice", log_name, line_nr, e->address);
	if (e->kind == 'a' && !e->size)
		bad("%s, line %u: an allocation of size 0", log_name, line_nr);
	*at = calloc(1, sizeof(**at));
	if (!*at)
		bad("out of memory");
	(*at)->address = e->address;
	e->handle = &(*at)->handle;
}

static void freed(struct event *e, struct live **at)
{
	static struct handle handle;
	struct live *l = *at;

	if (!l)
		bad("%s, line %u: %x is freed, but was not allocated", log_name, line_nr,
		    e->address);
	handle = l->handle;
	e->handle = &handle;
	*at = l->next;
	free(l);
}

bool log_next(struct event *e)
{
	char line[200];
	u32 lines;

	if (!fgets(line, sizeof(line), file) || !strchr(line, '\n'))
		bad("%s is cut short after line %u", log_name, line_nr);
	if (sscanf(line, "end %u", &lines) == 1) {
		if (lines != line_nr)
			bad("%s has %u lines, and says it has %u", log_name, line_nr, lines);
		return false;
	}
	line_nr++;
	if (!parsed(e, line))
		bad("%s, line %u is not an event: %s", log_name, line_nr, line);
	if (e->kind == 'a' || e->kind == 'p')
		allocated(e, find(e->address));
	if (e->kind == 'f' || e->kind == 'q')
		freed(e, find(e->address));
	return true;
}

void log_contradicts(const char *what)
{
	bad("%s, line %u: %s", log_name, line_nr, what);
}
