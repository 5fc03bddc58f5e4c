/*
 * Tests what a reference string cannot: locked pages, zones, a small budget, pages that are put back.
 * Standard input has one event per line. The answer to each line ends with the pages whose accessed bits are
 * set:
 *
 * 	in PAGE ZONE		the page is brought into memory, in that zone
 *	use PAGE		a program uses it
 *	touch PAGE		the policy's hook touch: a minor fault
 * 	lock, open PAGE		the page may not be evicted, may be evicted again
 * 	gone PAGE		the process frees the page
 * 	back PAGE		the core puts back the page that select returned
 * 	ask PRIORITY ZONES LOOKS	select, with zones as a mask; the answer begins with the page, 0: none
 *
 * Pages are numbered from 1. A millisecond passes with each event. As always, a broken rule ends the program (seam.c).
 */
#include "vmsim.h"

#include "lib/printf.h"
#include "lib/string.h"
#include <stdio.h>

static struct page *page_read(void)
{
	u32 number;

	if (scanf("%u", &number) != 1 || !number || number > max_pfn)
		exit(EXIT_USAGE);
	return &mem_map[number - 1];
}

static u32 number_read(void)
{
	u32 number;

	if (scanf("%u", &number) != 1)
		exit(EXIT_USAGE);
	return number;
}

static u32 number_of(const struct page *page)
{
	return page - mem_map + 1;
}

static void come(struct page *page)
{
	struct entry *entry;

	page->flags = number_read() << PG_zone_shift;
	page_set(page, PG_anon);
	page_set(page, PG_dirty);
	page->owner = &sim_mm;
	page->index = number_of(page);
	entry = entry_of(page);
	*entry = (struct entry){ .page = page, .seen = true, .mapped = true };
	sim_resident++;
	policy_call_insert(page, &sim_mm, VM_IN_FAULT, page_id_of(page));
}

static u32 ask(void)
{
	u32 priority = number_read(), mask = number_read();
	struct vm_scan scan = policy_scan(mask, priority);
	struct page *page;

	scan.allowance = number_read();
	page = policy_call_select(&scan);
	return page ? number_of(page) : 0;
}

static void perform(const char *word)
{
	struct page *page;

	if (!strcmp(word, "ask")) {
		printf("%u", ask());
		return;
	}
	page = page_read();
	if (!strcmp(word, "in"))
		come(page);
	else if (!strcmp(word, "use"))
		page_set(page, PG_young);
	else if (!strcmp(word, "touch"))
		policy_call_touch(page, &sim_mm, VM_TOUCH_MINOR);
	else if (!strcmp(word, "lock"))
		page_set(page, PG_locked);
	else if (!strcmp(word, "open"))
		page_clear(page, PG_locked);
	else if (!strcmp(word, "gone"))
		policy_call_remove(page, VM_OUT_FREED);
	else if (!strcmp(word, "back"))
		policy_call_putback(page, VM_PUT_NOSWAP);
	else
		exit(EXIT_USAGE);
}

void script_run(void)
{
	char word[8];

	while (scanf("%7s", word) == 1) {
		perform(word);
		sim_now_ns += 1000000;
		for (u32 i = 0; i < max_pfn; i++)
			if (page_test(&mem_map[i], PG_young))
				printf(" %u", i + 1);
		putchar('\n');
		fflush(stdout);
	}
}
