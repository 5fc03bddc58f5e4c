/*
 * Tests what a reference string cannot: locked pages, zones, a small budget, pages that are put back, and several
 * processes. Standard input has one event per line. The answer to each line ends with the pages whose accessed bits
 * are set:
 *
 * 	in PAGE ZONE		the page is brought into memory, in that zone
 *	use PAGE		a program uses it
 *	touch PAGE		the policy's hook touch: a minor fault
 * 	lock, open PAGE		the page may not be evicted, may be evicted again
 * 	gone PAGE		the process frees the page
 * 	back PAGE		the core puts back the page that select returned
 * 	ask PRIORITY ZONES LOOKS	select, with zones as a mask; the answer begins with the page, 0: none
 *
 * Pages are numbered from 1. A millisecond passes with each of these events. As always, a broken rule ends the program
 * (seam.c). The following events take no time, except for run, and each answer begins with a number:
 *
 *	who PROCESS		the later events are of this process, which begins when first named; 0
 *	uses NUMBER		it uses this number of pages of its own in each turn (crowd.c); 0
 *	sleep, wake, end PROCESS	0
 *	run MS			all processes take turns; how often one had to stop
 *	may PROCESS		may_run: 1 or 0
 *	lost			the number of pages that were taken from processes which never had to wait
 *	ran PROCESS		its own time, ms
 */
#include "vmsim.h"

#include "lib/printf.h"
#include "lib/string.h"
#include <stdio.h>

static u32 number_read(void)
{
	u32 number;

	if (scanf("%u", &number) != 1)
		exit(EXIT_USAGE);
	return number;
}

static struct entry *entry_read(void)
{
	u32 number = number_read();

	if (!number || number > max_pfn)
		exit(EXIT_USAGE);
	return entry_at(number, false);
}

static struct mm_struct *process_read(void)
{
	return crowd_process(number_read());
}

static struct mm_struct *who(void)
{
	if (!sim_current)
		exit(EXIT_USAGE);
	return sim_current;
}

static void come(void)
{
	struct entry *entry = entry_read();
	u32 number = entry - entry_at(0, false);
	struct page *page;

	if (entry->page || !zones[ZONE_NORMAL].nr_free)
		exit(EXIT_USAGE);
	page = memory_take();
	page->flags = number_read() << PG_zone_shift;
	page_set(page, PG_anon);
	page_set(page, PG_dirty);
	page->owner = who();
	page->index = number;
	*entry = (struct entry){ .page = page, .seen = true, .mapped = true };
	sim_resident++;
	sim_current->resident++;
	sim_current->demand++;
	policy_call_insert(page, sim_current, VM_IN_FAULT, page_id_of(page));
}

static u32 ask(void)
{
	u32 priority = number_read(), mask = number_read();
	struct vm_scan scan = policy_scan(mask, priority);
	struct page *page;

	scan.allowance = number_read();
	page = policy_call_select(&scan);
	return page ? page->index : 0;
}

static void leave(struct page *page)
{
	policy_call_remove(page, VM_OUT_FREED);
	page->owner->demand--;
	memory_release(page);
}

static void perform_on_page(const char *word)
{
	struct page *page = entry_read()->page;

	if (!page)
		exit(EXIT_USAGE);
	if (!strcmp(word, "use"))
		page_set(page, PG_young);
	else if (!strcmp(word, "touch"))
		policy_call_touch(page, page->owner, VM_TOUCH_MINOR);
	else if (!strcmp(word, "lock"))
		page_set(page, PG_locked);
	else if (!strcmp(word, "open"))
		page_clear(page, PG_locked);
	else if (!strcmp(word, "gone"))
		leave(page);
	else if (!strcmp(word, "back"))
		policy_call_putback(page, VM_PUT_NOSWAP);
	else
		exit(EXIT_USAGE);
}

/* Performs an event that concerns processes, and returns its number; or returns false. */
static bool perform_on_process(const char *word, u32 *number)
{
	*number = 0;
	if (!strcmp(word, "who"))
		crowd_switch(process_read());
	else if (!strcmp(word, "uses"))
		crowd_uses(who(), number_read());
	else if (!strcmp(word, "sleep"))
		process_read()->asleep = true;
	else if (!strcmp(word, "wake"))
		process_read()->asleep = false;
	else if (!strcmp(word, "end"))
		crowd_end(number_read());
	else if (!strcmp(word, "run"))
		*number = crowd_run(number_read());
	else if (!strcmp(word, "may"))
		*number = process_may_run(process_read());
	else if (!strcmp(word, "lost"))
		*number = crowd_lost();
	else if (!strcmp(word, "ran"))
		*number = mm_vtime(process_read()) / 1000000;
	else
		return false;
	return true;
}

static void perform(const char *word)
{
	u32 number;

	if (perform_on_process(word, &number)) {
		printf("%u", number);
		return;
	}
	if (!strcmp(word, "ask"))
		printf("%u", ask());
	else if (!strcmp(word, "in"))
		come();
	else
		perform_on_page(word);
	sim_now_ns += 1000000;
}

void script_run(void)
{
	char word[8];

	while (scanf("%7s", word) == 1) {
		perform(word);
		for (u32 i = 0; i < max_pfn; i++)
			if (mem_map[i].owner && page_test(&mem_map[i], PG_young) &&
			    mem_map[i].index < LEAF_SIZE)
				printf(" %u", mem_map[i].index);
		putchar('\n');
		fflush(stdout);
	}
}
