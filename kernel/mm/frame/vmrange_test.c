/* Tests address ranges against a model that marks every page of the window. */
#include "vmrange.c"

#include "lib/ktap.h"
#include "lib/string.h"

#define START 0xF8000000u
#define NR_PAGES 64u
#define NR_RANGES 24u

static struct vm_window window;
static u8 taken[NR_PAGES]; /* including guard pages */

static void make_window(void)
{
	window = (struct vm_window){ START, START + NR_PAGES * PAGE_SIZE,
				     LIST_HEAD_INIT(window.ranges) };
	memset(taken, 0, sizeof(taken));
}

/* Returns the first page of the lowest gap of nr pages, or NR_PAGES if there is none. */
static u32 model_find(u32 nr)
{
	for (u32 at = 0, run = 0; at < NR_PAGES; at++) {
		run = taken[at] ? 0 : run + 1;
		if (run == nr)
			return at - nr + 1;
	}
	return NR_PAGES;
}

static void take_as_model(struct vm_range *r, u32 nr)
{
	u32 at = model_find(nr + 1);
	bool done = vm_range_take(&window, r, nr * PAGE_SIZE);

	EXPECT_EQ(done, at < NR_PAGES);
	r->bytes = done ? r->bytes : 0;
	if (!done || at == NR_PAGES)
		return;
	EXPECT_EQ(r->start, START + at * PAGE_SIZE);
	EXPECT_EQ(r->bytes, nr * PAGE_SIZE);
	memset(taken + at, 1, nr + 1);
}

static void give_as_model(struct vm_range *r)
{
	EXPECT(vm_range_find(&window, r->start) == r);
	vm_range_give(r);
	EXPECT(!vm_range_find(&window, r->start));
	memset(taken + (r->start - START) / PAGE_SIZE, 0, r->bytes / PAGE_SIZE + 1);
	r->bytes = 0;
}

KTEST(vmrange, takes_the_lowest_gap_as_the_model_does)
{
	struct vm_range ranges[NR_RANGES] = { 0 };
	u32 seed = ktap_seed_noted();

	make_window();
	for (u32 i = 0; i < 20000; i++) {
		struct vm_range *r = &ranges[ktap_random(&seed) % NR_RANGES];

		if (r->bytes)
			give_as_model(r);
		else
			take_as_model(r, ktap_random(&seed) % 12 + 1);
	}
}

KTEST(vmrange, a_page_stays_free_behind_each_range)
{
	struct vm_range a, b;

	make_window();
	EXPECT(vm_range_take(&window, &a, PAGE_SIZE) && vm_range_take(&window, &b, PAGE_SIZE));
	EXPECT_EQ(b.start, a.start + 2 * PAGE_SIZE);
}

KTEST(vmrange, the_last_range_has_a_guard_too)
{
	struct vm_range a;

	make_window();
	EXPECT(!vm_range_take(&window, &a, NR_PAGES * PAGE_SIZE));
	EXPECT(vm_range_take(&window, &a, (NR_PAGES - 1) * PAGE_SIZE));
}

KTEST(vmrange, refuses_nothing_and_too_much)
{
	struct vm_range a;

	make_window();
	EXPECT(!vm_range_take(&window, &a, 0));
	EXPECT(!vm_range_take(&window, &a, -PAGE_SIZE));
	EXPECT(!vm_range_take(&window, &a, PAGE_SIZE / 2));
	EXPECT(list_empty(&window.ranges));
}
