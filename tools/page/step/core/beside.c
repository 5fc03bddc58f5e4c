/*
 * Output that the page shows in addition to the simulator's own lines.
 *
 * Ghosts lie on lists of the policy, on some of them between pages. Their heads are found as in report.c: follow the
 * ring until an element is neither a page nor a ghost; that element is the head.
 */
#include "step.h"

#include "lib/printf.h"
#include "lib/string.h"
#include "mm/ghost.h"

#define PER_CHUNK (PAGE_SIZE / sizeof(struct ghost))

enum { MAX_CALLS = 512, MAX_SEEN = 4096, MAX_TABLES = 2, MAX_RING = 16384 };

struct place {
	const char *hook, *file;
	u32 line;
};

static struct place calls[MAX_CALLS], chosen;
static u32 nr_calls, seen[MAX_SEEN], nr_seen;
static const struct ghosts *tables[MAX_TABLES];
static u32 nr_tables;

void step_at(const char *file, u32 line)
{
	const char *hook = policy_timer.running ?: "";
	u32 at = MIN(nr_calls, MAX_CALLS - 1);

	if (!strcmp(hook, "show") || !strcmp(hook, "check")) /* these hooks make no decisions */
		return;
	calls[at] = (struct place){ hook, file, line };
	nr_calls = at + 1;
}

/* seam.c calls this in place of report_gave: records the last call before a page was chosen. */
void step_gave(const struct page *page, enum vm_act act)
{
	if (page && nr_calls)
		chosen = calls[nr_calls - 1];
	report_gave(page, act);
}

void step_ghosts(const struct ghosts *ghosts)
{
	if (nr_tables < MAX_TABLES)
		tables[nr_tables++] = ghosts;
}

void beside_seen(u32 vpage)
{
	for (u32 i = 0; i < nr_seen; i++)
		if (seen[i] == vpage)
			return;
	if (nr_seen < MAX_SEEN)
		seen[nr_seen++] = vpage;
}

static void print_place(const struct place *place)
{
	const char *name = place->file;

	for (const char *at = name; *at; at++)
		if (*at == '/')
			name = at + 1;
	printf("[\"%s\",\"%s\",%u]", place->hook, name, place->line);
}

static long long number_of(bool is_file, u32 index)
{
	return is_file ? -1 - (long long)index : index;
}

long long beside_number(const struct page *page)
{
	return number_of(page_is_file(page), page->index);
}

static struct ghost *ghost_at(const struct ghosts *g, u32 i)
{
	return &g->chunks[i / PER_CHUNK][i % PER_CHUNK];
}

static bool taken(const struct ghosts *g, const struct ghost *ghost)
{
	return ghost_find(g, ghost->id) == ghost;
}

static const struct ghost *ghost_of(const struct list_head *node)
{
	for (u32 t = 0; t < nr_tables; t++)
		for (u32 i = 0; tables[t]->nr && i < tables[t]->capacity; i++)
			if (&ghost_at(tables[t], i)->node == node)
				return ghost_at(tables[t], i);
	return NULL;
}

const struct page *beside_page(const void *address)
{
	uintptr_t at = (uintptr_t)address - (uintptr_t)mem_map;

	return at < max_pfn * sizeof(struct page) ? &mem_map[at / sizeof(struct page)] : NULL;
}

/* A ghost identifies a page by its slot, or by its place in the file. */
static long long number_of_ghost(const struct ghost *ghost)
{
	struct page page = { .flags = 1u << PG_anon };

	if (ghost->id.store == FILE_STORE)
		return number_of(true, ghost->id.index);
	for (u32 i = 0; i < nr_seen; i++) {
		page.index = seen[i];
		if (entry_of(&page)->slot == ghost->id.index)
			return seen[i];
	}
	return -1;
}

/* Returns NULL if the node is on no list. */
static const struct list_head *head_of(const struct list_head *node)
{
	extern char __global_base, __data_end;
	const struct list_head *at = node->next;

	for (u32 n = 0; at && at != node && n < MAX_RING; n++, at = at->next)
		if ((const char *)at >= &__global_base && (const char *)at < &__data_end)
			return at;
	return NULL;
}

/* Prints [page, whether it is a ghost] for each, in order. */
static void print_ring(const struct list_head *head)
{
	const char *separator = "";

	printf("\"%#x\":[", (u32)(uintptr_t)head);
	for (const struct list_head *at = head->next; at != head; at = at->next) {
		const struct page *page = beside_page(at);
		const struct ghost *ghost = page ? NULL : ghost_of(at);

		if (page)
			printf("%s[%lld,0]", separator, beside_number(page));
		else if (ghost)
			printf("%s[%lld,1]", separator, number_of_ghost(ghost));
		separator = page || ghost ? "," : separator;
	}
	putchar(']');
}

static void print_ghosts(void)
{
	const struct list_head *heads[32];
	u32 nr = 0;

	for (u32 t = 0; t < nr_tables; t++)
		for (u32 i = 0; tables[t]->nr && i < tables[t]->capacity; i++) {
			const struct ghost *ghost = ghost_at(tables[t], i);
			const struct list_head *head =
				taken(tables[t], ghost) ? head_of(&ghost->node) : NULL;
			u32 h = 0;

			while (h < nr && heads[h] != head)
				h++;
			if (!head || h < nr || nr == ARRAY_SIZE(heads))
				continue;
			fputs(nr ? "," : "", stdout);
			heads[nr++] = head;
			print_ring(head);
		}
}

static void print_dirty(void)
{
	const char *separator = "";

	for (u32 pfn = 0; pfn < max_pfn; pfn++) {
		const struct page *page = &mem_map[pfn];

		if (!page_test(page, PG_owned) || !page_test(page, PG_dirty))
			continue;
		printf("%s%lld", separator, beside_number(page));
		separator = ",";
	}
}

void beside_reference(void)
{
	fputs("{\"dirty\":[", stdout);
	print_dirty();
	fputs("],\"ghosts\":{", stdout);
	print_ghosts();
	fputs("},\"calls\":[", stdout);
	for (u32 i = 0; i < nr_calls; i++) {
		fputs(i ? "," : "", stdout);
		print_place(&calls[i]);
	}
	fputs("],\"line\":", stdout);
	if (chosen.line)
		print_place(&chosen);
	else
		fputs("null", stdout);
	puts("}");
	nr_calls = 0;
	chosen = (struct place){ 0 };
}

/* Returns the frame of the page that contains this address, or -1. For pointers of a policy, such as a hand. */
__attribute__((export_name("frame"))) int step_frame(const void *address)
{
	const struct page *page = beside_page(address);

	return page ? page - mem_map : -1;
}
