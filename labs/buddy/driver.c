/*
 * Drives the page allocator through the operations that standard input requests, and prints the
 * results. It does not judge them: tidemark.grade.judge.kinds.buddy does.
 *
 * The allocator's code is untrusted. So it is another program (allocator.c), which gets one call
 * at a time: it does not know the later operations, and its only output is what its functions
 * return. Both programs share the memory of the zone and the struct pages. Even if its code could
 * write to our output, it does not know the word with which each of our lines begins: that word is
 * the first one of the input, which is erased when it has been read.
 *
 *	z FIRST END HOLE END	a zone [FIRST, END) without [HOLE, END), given frame by frame; comes first
 *	a ORDER			allocate
 *	f N			free what operation N allocated, if it did
 *	t N			free it once more, which must end in a panic
 *	m N			free it with the address of its second frame, which must, too
 *	d N			damage the lists in four ways, undoing each: does buddy_check report each
 *				damage, and no error without one? Without damage it is called at the end,
 *				and before each damage as often as two bits of N say
 *
 * Every operation prints one line: the letter, the result, and after z, a and f the zone's nr_free,
 * the number of free blocks of each order, and what buddy_check says. The frames around the zone
 * look like free blocks of other zones. The owner of a block writes into the owner's fields of its
 * struct pages.
 */
#define _GNU_SOURCE
#include "allocator.h"
#include "errno.h"
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_OPERATIONS = 100000, MARGIN = 2048 };

static FILE *in;
static char word[64];
static struct zone *zone;
static struct {
	struct page *page;
	u32 order;
} held[MAX_OPERATIONS + 1];
static char allocator_path[4096];
static pid_t allocator;
static int to_allocator;

/* Becomes the allocator, which has only the descriptors that it expects, and standard error for the
 * sanitizers. */
static void become_allocator(int calls, int memory)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	if (dup2(memory, MEMORY) != MEMORY || dup2(calls, CALLS) != CALLS)
		give_up("the allocator's descriptors");
	execl(allocator_path, allocator_path, NULL);
	give_up(allocator_path);
}

static void start_allocator(int memory)
{
	int ends[2];

	signal(SIGPIPE, SIG_IGN); /* whether it is still there shows when its answer is read */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) || (allocator = fork()) < 0)
		give_up("the allocator's process");
	if (!allocator)
		become_allocator(ends[1], memory);
	close(ends[1]);
	close(memory);
	to_allocator = ends[0];
}

/* The allocator has ended: ends the driver in the same way, by the same signal or status. */
static void end_likewise(void)
{
	int status;

	if (waitpid(allocator, &status, 0) < 0)
		exit(2);
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	exit(WEXITSTATUS(status));
}

static struct answer ask(struct call call)
{
	struct answer answer;

	if (write(to_allocator, &call, sizeof(call)) != sizeof(call) ||
	    read(to_allocator, &answer, sizeof(answer)) != sizeof(answer))
		end_likewise();
	if (answer.panic[0]) {
		printf("panic %.*s\n", (int)sizeof(answer.panic), answer.panic);
		exit(0);
	}
	return answer;
}

static int check(void)
{
	return ask((struct call){ .what = CHECK }).error;
}

static void free_block(struct page *page, u32 order)
{
	ask((struct call){ .what = FREE, .page = page, .order = order });
}

static void take_input(void)
{
	size_t size = 1u << 24, length;
	char *text = malloc(size);

	length = text ? fread(text, 1, size, stdin) : 0;
	(void)!ftruncate(STDIN_FILENO, 0); /* a pipe is empty as it is */
	in = length ? fmemopen(text, length, "r") : NULL;
	if (!in || fscanf(in, "%63s", word) != 1)
		exit(2);
}

static u32 number(void)
{
	unsigned int n;

	if (fscanf(in, "%u", &n) != 1)
		exit(2);
	return n;
}

static u32 operation_number(void)
{
	u32 n = number();

	if (n > MAX_OPERATIONS)
		exit(2);
	return n;
}

static void print_zone(void)
{
	printf(" %u", zone->nr_free);
	for (u32 order = 0; order < MAX_ORDER; order++)
		printf(" %u", zone->free_area[order].nr_free);
	printf(" %d\n", check());
}

static void make_neighbours(void)
{
	for (u32 pfn = 0; pfn < max_pfn; pfn++) {
		if (pfn >= zone->start_pfn && pfn < zone->end_pfn)
			continue;
		page_set(pfn_page(pfn), PG_buddy);
		INIT_LIST_HEAD(&pfn_page(pfn)->lru);
	}
}

static void make_zone(void)
{
	u32 first = number(), end = number(), hole = number(), hole_end = number();
	int memory = memfd_create("zone", 0);

	if (memory < 0 || ftruncate(memory, shared_size(end + MARGIN)))
		give_up("the zone's memory");
	zone = map_shared(memory);
	*zone = (struct zone){ .start_pfn = first, .end_pfn = end };
	make_neighbours();
	start_allocator(memory);
	ask((struct call){ .what = INIT });
	for (u32 pfn = first; pfn < end; pfn++)
		if (pfn < hole || pfn >= hole_end)
			free_block(pfn_page(pfn), 0);
	printf("z");
	print_zone();
}

/* Writes numbers into the owner's fields of struct page, as the owner of a block may. */
static void use_block(struct page *page, u32 order)
{
	for (struct page *p = page; p < page + (1u << order); p++) {
		p->count = 1;
		INIT_LIST_HEAD(&p->lru);
		p->index = p->slot = p->used_vt = 0xA5A5A5A5;
		p->order = (page_pfn(p) * 7) % MAX_ORDER;
	}
}

static bool is_page(const struct page *page, u32 order)
{
	return page >= mem_map && page + (1u << order) <= mem_map + max_pfn &&
	       ((const char *)page - (const char *)mem_map) % sizeof(*page) == 0;
}

static void allocate(u32 operation)
{
	u32 order = number();
	struct page *page = ask((struct call){ .what = ALLOC, .order = order }).page;

	if (!page) {
		printf("a none");
	} else if (!is_page(page, order)) {
		printf("a wild\n");
		return;
	} else {
		printf("a %u", page_pfn(page));
		use_block(page, order);
		held[operation].page = page;
		held[operation].order = order;
	}
	print_zone();
}

static void release(void)
{
	u32 of = operation_number();

	if (held[of].page) {
		for (u32 i = 0; i < 1u << held[of].order; i++)
			held[of].page[i].count = 0;
		free_block(held[of].page, held[of].order);
	}
	printf("f");
	print_zone();
}

/* Frees a block a second time, or at a wrong address: the allocator must panic. */
static void misuse(char how)
{
	u32 of = operation_number();

	free_block(held[of].page + (how == 'm'), held[of].order);
	printf("%c silent\n", how);
}

static const char *noticed(void)
{
	return check() == -EINVAL ? "found" : "missed";
}

static bool is_content(u32 times)
{
	bool content = true;

	while (times--)
		content &= !check();
	return content;
}

/* Damages the counts, and the entry of a largest free block. */
static void damage(void)
{
	u32 often = number();
	bool content = is_content(often & 3);
	struct free_area *area = &zone->free_area[MAX_ORDER - 1];
	struct page *page;

	while (area > zone->free_area && list_empty(&area->list))
		area--;
	page = list_first_entry(&area->list, struct page, lru);
	if (!is_page(page, 0)) { /* of an empty list, or one that leads elsewhere */
		printf("d none\n");
		return;
	}
	zone->nr_free++;
	printf("d %s", noticed());
	zone->nr_free--;
	content &= is_content(often >> 2 & 3);
	area->nr_free++;
	printf(" %s", noticed());
	area->nr_free--;
	content &= is_content(often >> 4 & 3);
	page_clear(page, PG_buddy);
	printf(" %s", noticed());
	page_set(page, PG_buddy);
	content &= is_content(often >> 6 & 3);
	page->order ^= 1;
	printf(" %s", noticed());
	page->order ^= 1;
	printf(" %s\n", content && is_content(1) ? "content" : "never");
}

static bool operate(u32 operation)
{
	char what;

	if (fscanf(in, " %c", &what) != 1)
		return false;
	printf("%s ", word);
	switch (what) {
	case 'z':
		make_zone();
		break;
	case 'a':
		allocate(operation);
		break;
	case 'f':
		release();
		break;
	case 't':
	case 'm':
		misuse(what);
		break;
	case 'd':
		damage();
		break;
	default:
		exit(2);
	}
	return true;
}

static void operate_all(void)
{
	u32 operation = 0;

	while (operation <= MAX_OPERATIONS && operate(operation))
		operation++;
}

int main(int argc, char **argv)
{
	(void)argc;
	snprintf(allocator_path, sizeof(allocator_path), "%s/allocator", dirname(argv[0]));
	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_DUMPABLE, 0); /* no other process may read our memory or open files */
	take_input();
	operate_all();
	return 0;
}
