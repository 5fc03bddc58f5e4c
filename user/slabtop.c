/* slabtop: the kernel's slab caches, from /proc/slabinfo, largest first. Prints once, as `slabtop
 * -o`. */
#include "lib.h"

#define HELP                                                                                         \
	"usage: slabtop [-o]\n"                                                                      \
	"The kernel's slab caches, those that take most memory first. It prints once, with -o and\n" \
	"without:\n"                                                                                 \
	"  OBJS ACTIVE USE    objects there is room for, in use, per cent of that\n"                 \
	"  OBJ_SIZE           bytes of one\n"                                                        \
	"  SLABS OBJ/SLAB     blocks of frames, objects in each\n"                                   \
	"  CACHE_SIZE         KiB of all slabs\n"

enum { MAX_CACHES = 128 };

struct cache {
	char name[32];
	unsigned active, objects, size, per_slab, pages_per_slab, active_slabs, slabs;
};

struct totals {
	unsigned long long active, objects, active_slabs, slabs, active_bytes, bytes;
};

static unsigned cache_kb(const struct cache *c)
{
	return c->slabs * c->pages_per_slab * PAGE_KB;
}

static bool parse_cache(const char *line, struct cache *c)
{
	return sscanf(line, "%31s %u %u %u %u %u : tunables %*u %*u %*u : slabdata %u %u", c->name,
		      &c->active, &c->objects, &c->size, &c->per_slab, &c->pages_per_slab,
		      &c->active_slabs, &c->slabs) == 8;
}

static int read_caches(struct cache *caches)
{
	static char text[32768];
	int nr = 0;

	if (read_file("/proc/slabinfo", text, sizeof(text)) < 0)
		die_errno("/proc/slabinfo");
	for (char *line = strtok(text, "\n"); line && nr < MAX_CACHES; line = strtok(NULL, "\n"))
		nr += parse_cache(line, &caches[nr]);
	return nr;
}

static int larger_first(const void *a, const void *b)
{
	unsigned left = cache_kb(a), right = cache_kb(b);

	return left < right ? 1 : left > right ? -1 : strcmp(a, b); /* each begins with a name */
}

static struct totals add_up(const struct cache *caches, int nr)
{
	struct totals t = { 0 };

	for (const struct cache *c = caches; c < caches + nr; c++) {
		t.active += c->active;
		t.objects += c->objects;
		t.active_slabs += c->active_slabs;
		t.slabs += c->slabs;
		t.active_bytes += (unsigned long long)c->active * c->size;
		t.bytes += cache_kb(c) * 1024ull;
	}
	return t;
}

static unsigned per_cent(unsigned long long part, unsigned long long whole)
{
	return whole ? part * 100 / whole : 0;
}

static void put_totals(const struct totals *t)
{
	printf("Active / Total Objects (%% used)    : %llu / %llu (%u%%)\n", t->active, t->objects,
	       per_cent(t->active, t->objects));
	printf("Active / Total Slabs (%% used)      : %llu / %llu (%u%%)\n", t->active_slabs,
	       t->slabs, per_cent(t->active_slabs, t->slabs));
	printf("Active / Total Size (%% used)       : %lluK / %lluK (%u%%)\n\n",
	       t->active_bytes / 1024, t->bytes / 1024, per_cent(t->active_bytes, t->bytes));
}

int main(int argc, char **argv)
{
	static struct cache caches[MAX_CACHES];
	struct totals totals;
	int nr;

	help_if_asked(argc, argv, HELP);
	if (argc > 2 || (argc == 2 && strcmp(argv[1], "-o") != 0))
		usage_error(HELP);
	nr = read_caches(caches);
	totals = add_up(caches, nr);
	qsort(caches, nr, sizeof(caches[0]), larger_first);
	put_totals(&totals);
	printf("%7s %7s %4s %8s %6s %8s %10s %s\n", "OBJS", "ACTIVE", "USE", "OBJ_SIZE", "SLABS",
	       "OBJ/SLAB", "CACHE_SIZE", "NAME");
	for (int i = 0; i < nr; i++)
		printf("%7u %7u %3u%% %8u %6u %8u %9uK %s\n", caches[i].objects, caches[i].active,
		       per_cent(caches[i].active, caches[i].objects), caches[i].size,
		       caches[i].slabs, caches[i].per_slab, cache_kb(&caches[i]), caches[i].name);
	return 0;
}
