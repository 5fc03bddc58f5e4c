#include "buddy.c"
#include "kmalloc.c"
#include "slab.c"
#include "slabinfo.c"
#include "../../lib/seq_file.c"
#include "host/host.h"
#include "lib/ktap.h"
#include <stdio.h>

#define NR_FRAMES 2048

static struct zone zone;
static u32 nr_refused; /* number of further allocations that fail; ~0: all */

struct page *alloc_pages(gfp_t gfp, u32 order)
{
	struct page *page;

	EXPECT(!(gfp & GFP_HIGH));
	if (nr_refused) {
		nr_refused--;
		return NULL;
	}
	page = buddy_alloc(&zone, order);
	if (page)
		page->count = 1;
	return page;
}

void free_pages(struct page *page, u32 order)
{
	EXPECT(!page_test(page, PG_slab));
	page->count = 0;
	buddy_free(&zone, page, order);
}

static void setup(bool poison)
{
	host_ram_create(NR_FRAMES);
	zone = (struct zone){ .end_pfn = NR_FRAMES };
	buddy_init(&zone);
	buddy_free(&zone, pfn_page(0), 10);
	buddy_free(&zone, pfn_page(1024), 10);
	nr_refused = 0;
	slab_poison = poison;
	booted = false;
	slab_init();
	slab_boot_done();
}

static void teardown(void)
{
	EXPECT_EQ(slab_check(), 0);
	host_ram_destroy();
}

KTEST(slab, layout_wastes_little_and_fits)
{
	struct kmem_cache *c;
	u32 size, waste;

	setup(false);
	for (size = 1; size <= 4096; size += size < 600 ? 1 : 37) {
		c = kmem_cache_create("x", size, 0, NULL);
		waste = left_over(c, c->order, c->nr_objects);
		EXPECT(c->nr_objects >= 1 && c->size >= size && c->size < size + 4);
		EXPECT((c->nr_colours - 1) * c->colour_step <= waste);
		EXPECT(c->order >= FIT_ORDER || waste < PAGE_SIZE / 8);
		EXPECT_EQ(c->off_slab, c->size >= 512);
		EXPECT_EQ(kmem_cache_destroy(c), 0);
	}
	teardown();
}

KTEST(slab, objects_are_distinct_aligned_and_inside)
{
	static char *objs[300];
	struct kmem_cache *c;
	int i;

	setup(false);
	c = kmem_cache_create("aligned", 40, 16, NULL);
	for (i = 0; i < 300; i++) {
		objs[i] = kmem_cache_alloc(c, GFP_KERNEL);
		EXPECT_EQ((uintptr_t)objs[i] % 16, 0);
		memset(objs[i], i, 40);
	}
	for (i = 0; i < 300; i++) {
		EXPECT_EQ((u8)objs[i][0], (u8)i);
		EXPECT_EQ((u8)objs[i][39], (u8)i);
		kmem_cache_free(c, objs[i]);
	}
	EXPECT_EQ(c->nr_in_use, 0);
	teardown();
}

static int nr_constructed;

static void construct(void *obj)
{
	nr_constructed++;
	*(u32 *)obj = 0xc0ffee;
}

KTEST(slab, constructor_runs_once_per_object)
{
	struct kmem_cache *c;
	u32 *obj;
	int i;

	setup(true);
	nr_constructed = 0;
	c = kmem_cache_create("ctor", 64, 0, construct);
	for (i = 0; i < 1000; i++) {
		obj = kmem_cache_alloc(c, GFP_KERNEL);
		EXPECT_EQ(*obj, 0xc0ffee);
		kmem_cache_free(c, obj);
	}
	EXPECT_EQ(nr_constructed, c->nr_objects);
	EXPECT_EQ(c->nr_slabs, 1);
	teardown();
}

KTEST(slab, slabs_have_different_colours)
{
	struct kmem_cache *c;
	char *first[3];
	u32 i, n;

	setup(false);
	c = kmem_cache_create("coloured", 200, 0, NULL);
	EXPECT(c->nr_colours > 1);
	for (i = 0; i < 3; i++) {
		first[i] = kmem_cache_alloc(c, GFP_KERNEL);
		for (n = 1; n < c->nr_objects; n++)
			kmem_cache_alloc(c, GFP_KERNEL);
	}
	EXPECT_EQ((uintptr_t)first[0] % PAGE_SIZE, 0);
	EXPECT_EQ((uintptr_t)first[1] % PAGE_SIZE, CACHE_LINE);
	EXPECT_EQ((uintptr_t)first[2] % PAGE_SIZE, 2 % c->nr_colours * CACHE_LINE);
	teardown();
}

KTEST(slab, shrinking_gives_pages_back)
{
	static void *objs[200];
	struct kmem_cache *c;
	u32 free_before, in_use, i;

	setup(false);
	c = kmem_cache_create("shrink", 300, 0, NULL);
	free_before = zone.nr_free;
	for (i = 0; i < 200; i++)
		objs[i] = kmem_cache_alloc(c, GFP_KERNEL);
	EXPECT_EQ(kmem_cache_destroy(c), -EBUSY);
	EXPECT(zone.nr_free < free_before);
	EXPECT_EQ(kmem_cache_shrink(c), 0);
	for (i = 0; i < 200; i++)
		kmem_cache_free(c, objs[i]);
	EXPECT_EQ(slab_check(), 0);
	in_use = free_before - zone.nr_free;
	EXPECT_EQ(kmem_cache_shrink(c), in_use);
	EXPECT_EQ(zone.nr_free, free_before);
	teardown();
}

KTEST(slab, reap_returns_every_page_of_unused_caches)
{
	void *p[13];
	u32 i;

	setup(false);
	slab_reap();
	for (i = 0; i < 13; i++)
		p[i] = kmalloc(32u << i, GFP_KERNEL);
	for (i = 0; i < 13; i++)
		kfree(p[i]);
	EXPECT(slab_reap() > 0);
	EXPECT_EQ(zone.nr_free, NR_FRAMES - 1); /* one page holds the caches themselves */
	EXPECT_EQ(buddy_check(&zone), 0);
	teardown();
}

KTEST(slab, destroyed_cache_leaves_nothing)
{
	struct kmem_cache *c;
	u32 in_use;

	setup(false);
	in_use = slab_objects_in_use();
	c = kmem_cache_create("gone", 700, 0, NULL);
	kmem_cache_free(c, kmem_cache_alloc(c, GFP_KERNEL));
	EXPECT_EQ(slab_objects_in_use(), in_use + 1); /* the cache, but not its slab's descriptor */
	EXPECT_EQ(kmem_cache_destroy(c), 0);
	EXPECT_EQ(slab_objects_in_use(), in_use);
	slab_reap();
	EXPECT_EQ(zone.nr_free, NR_FRAMES - 1);
	teardown();
}

KTEST(kmalloc, sizes_and_alignment)
{
	size_t size;
	char *p;

	setup(false);
	for (size = 0; size <= 131072; size = size < 40 ? size + 1 : size * 3 / 2) {
		p = kmalloc(size, GFP_KERNEL);
		EXPECT(p != NULL);
		EXPECT_EQ((uintptr_t)p % 32, 0);
		EXPECT(virt_page(p)->cache->size >= size);
		EXPECT(virt_page(p)->cache->size <= MAX(2 * size, 32u));
		memset(p, 0xff, size);
		kfree(p);
		p = kzalloc(size, GFP_KERNEL);
		EXPECT(!size || (!p[0] && !p[size - 1]));
		kfree(p);
	}
	EXPECT_EQ(kmalloc(131073, GFP_KERNEL), NULL);
	EXPECT_EQ(kmalloc(SIZE_MAX, GFP_KERNEL), NULL);
	kfree(NULL);
	teardown();
}

KTEST(slab, gfp_zero_clears)
{
	char *p;

	setup(true);
	p = kmalloc(100, GFP_KERNEL | GFP_ZERO);
	EXPECT(!p[0] && !p[99]);
	kfree(p);
	teardown();
}

KTEST(slab, out_of_memory_yields_null_and_leaks_nothing)
{
	struct kmem_cache *c;
	u32 free_before;

	setup(false);
	c = kmem_cache_create("big", 1024, 0, NULL);
	free_before = zone.nr_free;
	nr_refused = ~0u;
	EXPECT_EQ(kmem_cache_alloc(c, GFP_KERNEL), NULL);
	EXPECT_EQ(kmalloc(5000, GFP_KERNEL), NULL);
	EXPECT_EQ(kzalloc(5000, GFP_KERNEL), NULL);
	nr_refused = 0;
	EXPECT_EQ(zone.nr_free, free_before);
	EXPECT(kmem_cache_alloc(c, GFP_KERNEL) != NULL);
	teardown();
}

/* The page can be allocated, but not the descriptor. */
KTEST(slab, failing_descriptor_frees_the_block)
{
	struct kmem_cache *c;
	u32 held = 0;

	setup(false);
	c = kmem_cache_create("big", 4096, 0, NULL);
	slab_reap();
	while (zone.nr_free > 1) {
		EXPECT(alloc_pages(GFP_KERNEL, 0) != NULL);
		held++;
	}
	EXPECT_EQ(kmem_cache_alloc(c, GFP_KERNEL), NULL);
	EXPECT_EQ(zone.nr_free, 1);
	EXPECT(held > 1000);
	teardown();
}

KTEST(slab, creation_fails_softly_only_after_boot)
{
	setup(false);
	while (!list_empty(&cache_cache.partial))
		EXPECT(kmem_cache_create("filler", 64, 0, NULL) != NULL);
	nr_refused = ~0u;
	EXPECT_EQ(kmem_cache_create("late", 64, 0, NULL), NULL);
	booted = false;
	EXPECT_PANIC(kmem_cache_create("early", 64, 0, NULL));
	nr_refused = 0;
	booted = true;
	EXPECT_EQ(kmem_cache_create("huge", 200000, 0, NULL), NULL);
	teardown();
}

KTEST(slab, wrong_frees_are_caught)
{
	struct kmem_cache *c, *other;
	char *a, *b;

	setup(false);
	c = kmem_cache_create("c", 48, 0, NULL);
	other = kmem_cache_create("other", 48, 0, NULL);
	a = kmem_cache_alloc(c, GFP_KERNEL);
	b = kmem_cache_alloc(c, GFP_KERNEL);
	EXPECT_PANIC(kmem_cache_free(c, a + 4));
	EXPECT_PANIC(kmem_cache_free(c, a - 4));
	EXPECT_PANIC(kmem_cache_free(other, a));
	kmem_cache_free(c, a);
	EXPECT_PANIC(kmem_cache_free(c, a));
	kfree(b); /* kfree finds the cache of every object */
	EXPECT_PANIC(kfree(b));
	EXPECT_PANIC(kfree(page_address(alloc_pages(GFP_KERNEL, 0))));
	kmem_cache_shrink(c);
	EXPECT_PANIC(kmem_cache_free(c, a));
	teardown();
}

KTEST(slab, poison_finds_writes_after_free)
{
	char *p;

	setup(true);
	p = kmalloc(64, GFP_KERNEL);
	EXPECT_EQ(p[63], POISON_NEW);
	kfree(p);
	EXPECT_EQ(p[0], POISON_FREE);
	p[17] = 0;
	EXPECT_PANIC(kmalloc(64, GFP_KERNEL));
	EXPECT(strstr(host_panic_message, "kmalloc-64") && strstr(host_panic_message, "byte 17"));
	teardown();
}

KTEST(slab, check_finds_damage)
{
	struct kmem_cache *c;
	struct slab *s;
	void *obj;

	setup(false);
	c = kmem_cache_create("c", 48, 0, NULL);
	obj = kmem_cache_alloc(c, GFP_KERNEL);
	s = virt_page(obj)->slab;
	EXPECT_EQ(slab_check(), 0);
	s->nr_used++;
	EXPECT_EQ(slab_check(), -EINVAL);
	s->nr_used--;
	s->next[5] = 1; /* a cycle */
	EXPECT_EQ(slab_check(), -EINVAL);
	s->next[5] = 6;
	c->nr_in_use++;
	EXPECT_EQ(slab_check(), -EINVAL);
	c->nr_in_use--;
	virt_page(obj)->slab = NULL;
	EXPECT_EQ(slab_check(), -EINVAL);
	virt_page(obj)->slab = s;
	teardown();
}

KTEST(slab, slabinfo_has_linux_format)
{
	static char buf[8192];
	struct seq_file m;

	setup(false);
	kmalloc(64, GFP_KERNEL);
	seq_init(&m, buf, sizeof(buf) - 1);
	slab_show(&m);
	buf[m.count] = '\0';
	EXPECT(!strncmp(buf, "slabinfo - version: 2.1\n# name            <active_objs>", 55));
	EXPECT(strstr(buf, "\nkmalloc-64             1     61     64   61    1 : "
			   "tunables    0    0    0 : slabdata      1      1      0\n"));
	teardown();
}

#define NR_CACHES 6
#define NR_HELD 3000

struct held {
	u8 *obj;
	u32 cache;
	u8 fill;
};

static bool filled(const struct held *h, u32 size)
{
	u32 i;

	for (i = 0; i < size; i++)
		if (h->obj[i] != h->fill)
			return false;
	return true;
}

static void random_operations(bool poison)
{
	static const u32 sizes[NR_CACHES] = { 4, 20, 132, 511, 600, 3000 };
	static struct held held[NR_HELD];
	struct kmem_cache *caches[NR_CACHES];
	u32 rnd = ktap_seed_noted(), nr_held = 0, i, n;
	struct held h;

	setup(poison);
	for (i = 0; i < NR_CACHES; i++)
		caches[i] = kmem_cache_create("random", sizes[i], 0, NULL);
	for (i = 0; i < 60000; i++) {
		bool grow = ktap_random(&rnd) % 100 < (i / 6000 % 2 ? 30u : 70u);

		if (grow && nr_held < NR_HELD) {
			h.cache = ktap_random(&rnd) % NR_CACHES;
			h.fill = ktap_random(&rnd);
			h.obj = kmem_cache_alloc(caches[h.cache], GFP_KERNEL);
			if (!h.obj)
				continue;
			memset(h.obj, h.fill, sizes[h.cache]);
			held[nr_held++] = h;
		} else if (!grow && nr_held) {
			n = ktap_random(&rnd) % nr_held;
			h = held[n];
			held[n] = held[--nr_held];
			EXPECT(filled(&h, sizes[h.cache]));
			kmem_cache_free(caches[h.cache], h.obj);
		}
		if (ktap_random(&rnd) % 2000 == 0)
			slab_reap();
		if (i % 300 == 0) {
			EXPECT_EQ(slab_check(), 0);
			EXPECT_EQ(buddy_check(&zone), 0);
		}
	}
	while (nr_held--)
		kmem_cache_free(caches[held[nr_held].cache], held[nr_held].obj);
	slab_reap();
	EXPECT_EQ(zone.nr_free, NR_FRAMES - 1);
	teardown();
}

KTEST(slab, random_operations_keep_contents)
{
	random_operations(false);
}

KTEST(slab, random_operations_with_poison)
{
	random_operations(true);
}
