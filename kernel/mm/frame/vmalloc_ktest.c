/* Tests vmalloc in the running kernel, with its real page tables. */
#include "lib/ktap.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "mm/vmalloc.h"
#include "mm/zone.h"

#define BIG (40 * PAGE_SIZE)

KTEST(vmalloc, memory_keeps_what_is_written)
{
	u32 *p = vmalloc(BIG, "ktest"), wrong = 0;

	EXPECT(p);
	for (u32 i = 0; p && i < BIG / sizeof(*p); i++)
		p[i] = i * 2654435761u;
	for (u32 i = 0; p && i < BIG / sizeof(*p); i++)
		wrong += p[i] != i * 2654435761u;
	EXPECT_EQ(wrong, 0);
	vfree(p);
}

KTEST(vmalloc, every_address_space_sees_it)
{
	u32 *p = vzalloc(PAGE_SIZE, "ktest");
	pgd_t *pgd = pgd_create(), *before = mmu_current;

	EXPECT(p && pgd);
	if (p && pgd) {
		*p = 42;
		mmu_switch(pgd);
		EXPECT_EQ(*p, 42);
		mmu_switch(before);
	}
	if (pgd)
		pgd_destroy(pgd);
	vfree(p);
}

KTEST(vmalloc, the_page_behind_is_not_mapped)
{
	char *p = vmalloc(2 * PAGE_SIZE, "ktest");

	EXPECT(p && pte_present(*pte_lookup(kernel_pgd, (u32)p + PAGE_SIZE)));
	EXPECT(p && pte_none(*pte_lookup(kernel_pgd, (u32)p + 2 * PAGE_SIZE)));
	vfree(p);
	EXPECT(pte_none(*pte_lookup(kernel_pgd, (u32)p)));
}

KTEST(vmalloc, given_back_nothing_is_missing)
{
	u32 had = vmalloc_nr_pages(), objects = slab_objects_in_use();
	void *p = vmalloc(BIG, "ktest"), *q = vmalloc(1, "ktest");

	EXPECT_EQ(vmalloc_nr_pages(), had + BIG / PAGE_SIZE + 1);
	vfree(p);
	vfree(q);
	vfree(NULL);
	EXPECT_EQ(vmalloc_nr_pages(), had);
	EXPECT_EQ(slab_objects_in_use(), objects);
}

KTEST(vmalloc, more_than_the_window_is_refused)
{
	u32 had = vmalloc_nr_pages(), objects = slab_objects_in_use();

	EXPECT(!vmalloc(VMALLOC_WINDOW_END - VMALLOC_START, "ktest"));
	EXPECT(!vmalloc(0, "ktest"));
	EXPECT(!vmalloc(SIZE_MAX, "ktest"));
	EXPECT_EQ(vmalloc_nr_pages(), had);
	EXPECT_EQ(slab_objects_in_use(), objects);
}

/* Memory runs out when half of the pages are allocated. */
KTEST(vmalloc, without_memory_nothing_is_left)
{
	u32 had = vmalloc_nr_pages(), objects = slab_objects_in_use(), nr_free;
	u32 leave = BIG / PAGE_SIZE / 2;
	void *p;
	struct page *page, *next;
	LIST_HEAD(held);

	for (u32 z = 0; z < MAX_ZONES; z++)
		leave += zones[z].watermark[WMARK_MIN];
	while (nr_free_pages() > leave && (page = alloc_page(GFP_RESERVE | GFP_HIGH)))
		list_add(&page->lru, &held);
	nr_free = nr_free_pages();
	p = vmalloc(BIG, "ktest");

	EXPECT(!p);
	EXPECT_EQ(vmalloc_nr_pages(), had);
	EXPECT_EQ(slab_objects_in_use(), objects);
	EXPECT(nr_free_pages() + 1 >= nr_free); /* a slab for the piece may have been allocated */
	list_for_each_entry_safe(page, next, &held, lru)
		free_pages(page, 0);
}
