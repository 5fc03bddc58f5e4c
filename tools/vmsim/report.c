/*
 * Output as JSON, one object per line.
 *
 * Pages of the file have negative numbers: -1 is its page 0.
 *
 * With --explain, one object for every reference (or run of references to one page):
 *	ref     number of the (run's first) reference, from 1
 *	page, count, result: "hit", "fault", or "minor": resident, but the reference faulted
 *	hooks   the hooks called for it: hook (its name), priority and trim (of select); looked: pages
 *	        whose accessed bits it read, and their values; gave: the page returned, or null; act:
 *	        what to do with that page
 * 	frames  the page in each frame afterwards, or null
 *	used    pages whose accessed bit is set
 *	lists   every list of pages that the policy keeps, by the address of its head, in order
 *	show    the lines of its show hook
 * The last object has the counts, or "violation".
 */
#include "vmsim.h"

#include "lib/printf.h"
#include "lib/string.h"

bool report_explains;
static FILE *hooks;
static char *hooks_text;
static size_t hooks_length;
static bool asked; /* the object of a hook is open */
static u64 first_reference = 1;

static long long number_of(const struct page *page)
{
	return page_is_file(page) ? -1 - (long long)page->index : page->index;
}

static void next_hook(const char *name)
{
	if (!hooks)
		hooks = open_memstream(&hooks_text, &hooks_length);
	if (asked)
		fputs("]}", hooks);
	fprintf(hooks, "%s{\"hook\":\"%s\"", ftell(hooks) ? "," : "", name);
	asked = true;
}

void report_asked(const char *name, const struct vm_scan *scan)
{
	if (!report_explains)
		return;
	next_hook(name);
	if (scan)
		fprintf(hooks, ",\"priority\":%d,\"trim\":%s", scan->priority,
			scan->trim ? "true" : "false");
	fputs(",\"looked\":[", hooks);
}

void report_looked(const struct page *page, bool used)
{
	if (!report_explains)
		return;
	if (!asked) {
		next_hook(policy_timer.running ?: "");
		fputs(",\"looked\":[", hooks);
	}
	fflush(hooks);
	fprintf(hooks, "%s[%lld,%s]", hooks_text[hooks_length - 1] == '[' ? "" : ",",
		number_of(page), used ? "true" : "false");
}

void report_gave(const struct page *page, enum vm_act act)
{
	static const char *const names[] = { "evict", "detach", "launder" };

	if (!report_explains)
		return;
	if (page)
		fprintf(hooks, "],\"gave\":%lld,\"act\":\"%s\"}", number_of(page),
			act <= VM_LAUNDER ? names[act] : "?");
	else
		fputs("],\"gave\":null}", hooks);
	asked = false;
}

/* Finds lists of pages without knowing the policy: its data in a page hold a struct list_head, whose
 * ring passes through other pages' data at the same offset and through one head elsewhere. */

static struct list_head *node_at(struct page *page, u32 word)
{
	return (struct list_head *)&page->policy[word];
}

static struct page *page_of_node(const struct list_head *node, u32 word)
{
	uintptr_t first = (uintptr_t)node_at(mem_map, word), at = (uintptr_t)node;

	if (at < first || (at - first) % sizeof(struct page))
		return NULL;
	at = (at - first) / sizeof(struct page);
	return at < max_pfn ? &mem_map[at] : NULL;
}

/* Can a head lie here? That is, in the policy's variables, or in its data of the address space. */
static bool may_be_head(const struct list_head *node)
{
	extern char __data_start, _end;
	const char *at = (const char *)node;

	return (uintptr_t)at % sizeof(void *) == 0 && at >= &__data_start &&
	       at + sizeof(*node) <= &_end;
}

/* Returns the head of the ring that this page's node is on, or NULL if it is on none. The search may
 * read between variables, which the address sanitizer forbids. */
__attribute__((no_sanitize("address"))) static const struct list_head *head_of(struct page *page,
									       u32 word)
{
	const struct list_head *at = node_at(page, word);

	for (u32 n = 0; n <= max_pfn; n++) {
		const struct list_head *next = at->next;

		if (!page_of_node(next, word))
			return may_be_head(next) && next->prev == at ? next : NULL;
		if (next->prev != at)
			return NULL;
		at = next;
	}
	return NULL;
}

/* Marks the pages of a list, in a field that is unused here, so that none is visited again. */
__attribute__((no_sanitize("address"))) static void print_list(const struct list_head *head,
							       u32 word, u32 mark)
{
	const char *separator = "";

	printf("\"%#x\":[", (u32)(uintptr_t)head);
	for (const struct list_head *at = head->next; at != head; at = at->next) {
		struct page *page = page_of_node(at, word);

		if (!page || page->used_vt == mark) /* the ring does not return to its head */
			break;
		printf("%s%lld", separator, number_of(page));
		separator = ",";
		page->used_vt = mark;
	}
	putchar(']');
}

static void print_lists(void)
{
	static u32 mark;
	u32 n = 0;

	mark++;
	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		for (u32 word = 0; word + 1 < ARRAY_SIZE(mem_map->policy); word++) {
			struct page *page = &mem_map[pfn];
			const struct list_head *head = NULL;

			if (page_test(page, PG_owned) && page->used_vt != mark)
				head = head_of(page, word);
			if (!head)
				continue;
			fputs(n++ ? "," : "", stdout);
			print_list(head, word, mark);
		}
}

static void print_string(const char *text, size_t length)
{
	putchar('"');
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\n')
			fputs("\\n", stdout);
		else if (text[i] >= ' ' && text[i] < 127)
			printf(text[i] == '"' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
	putchar('"');
}

static void print_show(void)
{
	static char text[4096];
	struct seq_file m;

	seq_init(&m, text, sizeof(text));
	policy_call_show(&m);
	print_string(text, m.count);
}

static bool in_use(u32 pfn)
{
	return page_test(&mem_map[pfn], PG_owned) || page_test(&mem_map[pfn], PG_isolated);
}

static void print_frames(void)
{
	const char *separator = "";

	fputs("\"frames\":[", stdout);
	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		printf(in_use(pfn) ? "%s%lld" : "%snull", pfn ? "," : "", number_of(&mem_map[pfn]));
	fputs("],\"used\":[", stdout);
	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		if (in_use(pfn) && page_test(&mem_map[pfn], PG_young)) {
			printf("%s%lld", separator, number_of(&mem_map[pfn]));
			separator = ",";
		}
	putchar(']');
}

static void print_hooks(void)
{
	if (asked)
		fputs("]}", hooks);
	asked = false;
	if (!hooks)
		return;
	fclose(hooks);
	fputs(hooks_text, stdout);
	free(hooks_text);
	hooks = NULL;
}

void report_reference(u32 vpage, u32 count, u32 kind, const char *result)
{
	printf("{\"ref\":%llu,\"page\":%lld,\"count\":%u,\"result\":\"%s\",\"hooks\":[",
	       (unsigned long long)first_reference,
	       kind & REF_FILE ? -1 - (long long)vpage : (long long)vpage, count, result);
	first_reference = counts.references + 1;
	print_hooks();
	fputs("],", stdout);
	print_frames();
	fputs(",\"lists\":{", stdout);
	print_lists();
	fputs("},\"show\":", stdout);
	print_show();
	puts("}");
}

void report_result(void)
{
	printf("{\"policy\":\"%s\",\"frames\":%u,\"references\":%llu,\"pages\":%u,"
	       "\"faults\":%llu,\"hits\":%llu,\"minor\":%llu,\"evictions\":%llu,"
	       "\"trimmed\":%llu,\"ticks\":%llu,\"looked\":%llu,\"ns\":%llu}\n",
	       vm_policy->name, max_pfn, (unsigned long long)counts.references, sim_mm.demand,
	       (unsigned long long)counts.faults,
	       (unsigned long long)(counts.references - counts.faults - counts.minor),
	       (unsigned long long)counts.minor, (unsigned long long)counts.evictions,
	       (unsigned long long)counts.trimmed, (unsigned long long)counts.ticks,
	       (unsigned long long)counts.looked, (unsigned long long)sim_now_ns);
}

void report_violation(const struct violation *v)
{
	char number[16] = "null";

	if (v->page)
		snprintf(number, sizeof(number), "%lld", number_of(v->page));
	fflush(stdout);
	fprintf(stderr, "policy %s broke the rule '%s' at reference %llu, hook %s: %s\n", v->name,
		v->rule, (unsigned long long)counts.references, v->hook, v->what);
	printf("{\"violation\":{\"policy\":\"%s\",\"rule\":\"%s\",\"hook\":\"%s\",\"ref\":%llu,"
	       "\"page\":%s,\"what\":",
	       v->name, v->rule, v->hook, (unsigned long long)counts.references, number);
	print_string(v->what, strlen(v->what));
	puts("}}");
	fflush(stdout);
}
