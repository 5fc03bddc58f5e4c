/* Inspecting the slab caches: consistency, counts, /proc/slabinfo. */
#include "errno.h"
#include "lib/seq_file.h"
#include "slab_internal.h"

/* Are the free list and the marks of one slab consistent, and do its frames point to it? */
static bool slab_sound(const struct kmem_cache *c, const struct slab *s)
{
	const struct page *page = virt_page((void *)ALIGN_DOWN((uintptr_t)s->first, PAGE_SIZE));
	u32 i, nr_free = 0, nr_marked = 0;

	for (i = 0; i < 1u << c->order; i++)
		if (!page_test(page + i, PG_slab) || page[i].cache != c || page[i].slab != s)
			return false;
	for (i = s->free; i != SLAB_END; i = s->next[i])
		if (i >= c->nr_objects || ++nr_free > c->nr_objects)
			return false;
	for (i = 0; i < c->nr_objects; i++)
		nr_marked += s->next[i] == SLAB_IN_USE;
	return nr_marked == s->nr_used && nr_free + s->nr_used == c->nr_objects;
}

/* Does every slab of the list have between min and max objects in use? Adds up slabs and objects. */
static bool list_sound(const struct kmem_cache *c, const struct list_head *head, u32 min, u32 max,
		       u32 *nr_slabs, u32 *nr_in_use)
{
	const struct slab *s;

	list_for_each_entry(s, head, list) {
		if (s->list.next->prev != &s->list || ++*nr_slabs > c->nr_slabs)
			return false;
		if (s->nr_used < min || s->nr_used > max || !slab_sound(c, s))
			return false;
		*nr_in_use += s->nr_used;
	}
	return true;
}

static bool cache_sound(const struct kmem_cache *c)
{
	u32 nr_slabs = 0, nr_in_use = 0, n = c->nr_objects;

	return list_sound(c, &c->empty, 0, 0, &nr_slabs, &nr_in_use) &&
	       list_sound(c, &c->partial, 1, n - 1, &nr_slabs, &nr_in_use) &&
	       list_sound(c, &c->full, n, n, &nr_slabs, &nr_in_use) && nr_slabs == c->nr_slabs &&
	       nr_in_use == c->nr_in_use;
}

int slab_check(void)
{
	const struct kmem_cache *c;

	list_for_each_entry(c, &slab_caches, list)
		if (!cache_sound(c))
			return -EINVAL;
	return 0;
}

/* Does not count the descriptors, one per slab, that caches of large objects get from kmalloc. */
u32 slab_objects_in_use(void)
{
	const struct kmem_cache *c;
	u32 n = 0;

	list_for_each_entry(c, &slab_caches, list)
		n += c->nr_in_use - (c->off_slab ? c->nr_slabs : 0);
	return n;
}

u32 slab_nr_pages(void)
{
	const struct kmem_cache *c;
	u32 n = 0;

	list_for_each_entry(c, &slab_caches, list)
		n += c->nr_slabs << c->order;
	return n;
}

static void show_cache(struct seq_file *m, const struct kmem_cache *c)
{
	const struct list_head *at;
	u32 nr_empty = 0, nr_active;

	list_for_each(at, &c->empty)
		nr_empty++;
	nr_active = c->nr_slabs - nr_empty;
	seq_printf(m, "%-17s %6u %6u %6u %4u %4u", c->name, c->nr_in_use,
		   c->nr_slabs * c->nr_objects, c->size, c->nr_objects, 1u << c->order);
	seq_printf(m, " : tunables %4u %4u %4u : slabdata %6u %6u %6u\n", 0, 0, 0, nr_active,
		   c->nr_slabs, 0);
}

void slab_show(struct seq_file *m)
{
	const struct kmem_cache *c;

	seq_puts(m, "slabinfo - version: 2.1\n"
		    "# name            <active_objs> <num_objs> <objsize> <objperslab> "
		    "<pagesperslab> : tunables <limit> <batchcount> <sharedfactor> : slabdata "
		    "<active_slabs> <num_slabs> <sharedavail>\n");
	list_for_each_entry(c, &slab_caches, list)
		show_cache(m, c);
}
