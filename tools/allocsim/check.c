/*
 * Replaying a log through the kernel's own buddy and slab, to compare with the kernel's own counts.
 *
 * The zones are those of the log, so the buddy must return the very frames that it returned in the
 * kernel; a difference ends the program. The slab allocator gets its frames elsewhere, and needs none of
 * the log. Whenever the kernel wrote /proc/buddyinfo or /proc/slabinfo, the same table is printed here.
 */
#include "sim.h"

#include "../../kernel/mm/frame/slab_internal.h"
#include "lib/seq_file.h"
#include <stdlib.h>
#include <string.h>

static u32 nr_zones, nr_caches;
static struct kmem_cache *caches[256]; /* by their number in the log */

static void add_zone(const struct event *e)
{
	struct zone *z = &zones[nr_zones++];

	if (nr_zones > MAX_ZONES || e->size > FRAMES_END - LOGGED_AT)
		log_contradicts("more memory than a machine has");
	*z = (struct zone){ .start_pfn = LOGGED_AT + e->address, .end_pfn = LOGGED_AT + e->size };
	buddy_init(z);
}

static void on_frames(const struct event *e)
{
	struct zone *z = &zones[e->number];
	struct page *page;

	if (e->number >= nr_zones || e->address >= z->end_pfn - LOGGED_AT)
		log_contradicts("a frame outside its zone");
	page = pfn_page(LOGGED_AT + e->address);
	if (e->kind != 'p')
		buddy_free(z, page, e->size);
	else if (buddy_alloc(z, e->size) != page)
		log_contradicts("the buddy returns another frame");
	else
		page->lru.next = NULL; /* its owner uses it */
}

/* The caches that slab_init creates exist already. */
static void add_cache(const struct event *e)
{
	struct kmem_cache *c;

	if (nr_caches == 256)
		log_contradicts("more than 256 slab caches");
	list_for_each_entry(c, &slab_caches, list)
		if (!strcmp(c->name, e->name))
			break;
	if (&c->list == &slab_caches)
		c = kmem_cache_create(strdup(e->name), e->size, e->number, NULL);
	caches[nr_caches++] = c;
}

static void on_object(const struct event *e)
{
	if (e->number >= nr_caches)
		log_contradicts("an object of an unknown slab cache");
	e->handle->address = (char *)kmem_cache_alloc(caches[e->number], GFP_KERNEL) - host_ram;
}

static void show(const char *function)
{
	static char text[1 << 16];
	struct seq_file m;

	if (!strcmp(function, "slab_show")) {
		seq_init(&m, text, sizeof(text));
		slab_show(&m);
		printf("slabinfo\n%.*s", (int)m.count, text);
		return;
	}
	printf("buddyinfo\n");
	for (u32 i = 0; i < nr_zones; i++)
		for (u32 order = 0; order < MAX_ORDER; order++)
			printf("%u%c", zones[i].free_area[order].nr_free,
			       order < MAX_ORDER - 1 ? ' ' : '\n');
}

static void carry_out(const struct event *e)
{
	switch (e->kind) {
	case 'z':
		return add_zone(e);
	case 'c':
		return add_cache(e);
	case 'a':
		return on_object(e);
	case 'f':
		return kfree(host_ram + e->handle->address);
	case 'r':
		slab_reap();
		return;
	case 's':
		return show(e->name);
	}
	on_frames(e);
}

void check(const char *log)
{
	struct event e;

	unit = PAGE_SIZE;
	nr_units = ARENA_PAGES;
	pages_start();
	slab_init();
	slab_boot_done();
	log_open(log);
	while (log_next(&e))
		carry_out(&e);
	for (u32 i = 0; i < nr_zones; i++)
		if (buddy_check(&zones[i]))
			log_contradicts("the buddy is inconsistent at the end");
}
