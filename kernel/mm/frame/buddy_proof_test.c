/*
 * The buddy allocator, for all small memories and all sequences of calls.
 *
 * A memory of few frames has finitely many states, and the effect of a call depends on nothing else.
 * So all states that any sequence of calls can reach are visited, breadth first. A state consists of the
 * bytes of its struct pages and of its zone. When no call leads to a new state, the properties that were
 * checked in each state hold after every sequence, however long. The memories are all zones of up to 6
 * frames (or FRAMES= in the environment, at most 8), at each position relative to the largest block that
 * fits, with each set of frames missing. The frames outside look like free blocks of a neighbour zone.
 *
 * Checked in each state, against a map of frames that has no notion of buddies:
 *	an allocation of 2^k frames returns an aligned block inside the zone, all of whose frames were
 *	free, from a smallest free block that is large enough; it fails only if there is no such block
 *	free blocks are as large as possible, counted correctly, and on the right lists (buddy_check)
 *	a freed block is free, and all others are unchanged; freeing it again is detected
 */
#include "buddy.c"
#include "host/host.h"
#include <stdlib.h>
#include <string.h>

enum { NR = 8, MARGIN = 8, NR_ORDERS = 5, NR_BUCKETS = 1 << 20 };

/* State of a frame in the map: missing, free, or inside an allocated block. HELD + k: the first
 * frame of an allocated block of order k. */
enum { ABSENT, FREE, INNER, HELD };

/* Everything that the allocator reads or writes. */
struct memory {
	struct {
		u32 flags, order;
		struct list_head lru;
	} pages[NR];
	struct free_area areas[NR_ORDERS];
	u32 nr_free;
	u8 frames[NR];
};

struct state {
	struct state *next; /* next in the bucket */
	struct state *later; /* next in the queue of states to visit */
	struct memory memory;
};

static struct zone zone;
static u8 frames[NR];
static struct state *buckets[NR_BUCKETS], *first, **last;
static u32 nr_states, nr_calls;

static struct page *at(u32 i)
{
	return pfn_page(zone.start_pfn + i);
}

static void save(struct memory *m)
{
	memset(m, 0, sizeof(*m));
	for (u32 i = 0; i < NR; i++) {
		m->pages[i].flags = at(i)->flags;
		m->pages[i].order = at(i)->order;
		m->pages[i].lru = at(i)->lru;
	}
	memcpy(m->areas, zone.free_area, sizeof(m->areas));
	m->nr_free = zone.nr_free;
	memcpy(m->frames, frames, NR);
}

static void go_to(const struct memory *m)
{
	for (u32 i = 0; i < NR; i++) {
		at(i)->flags = m->pages[i].flags;
		at(i)->order = m->pages[i].order;
		at(i)->lru = m->pages[i].lru;
	}
	memcpy(zone.free_area, m->areas, sizeof(m->areas));
	zone.nr_free = m->nr_free;
	memcpy(frames, m->frames, NR);
	nr_calls++;
}

static u32 hash(const struct memory *m)
{
	u32 h = 2166136261u;

	for (u32 i = 0; i < sizeof(*m); i++)
		h = (h ^ ((const u8 *)m)[i]) * 16777619u;
	return h % NR_BUCKETS;
}

/* Adds the current state to the queue of states to visit, if it is new. */
static void reached(void)
{
	struct memory now;
	struct state **bucket, *s;

	save(&now);
	bucket = &buckets[hash(&now)];
	for (s = *bucket; s; s = s->next)
		if (!memcmp(&s->memory, &now, sizeof(now)))
			return;
	s = calloc(1, sizeof(*s));
	s->memory = now;
	s->next = *bucket;
	*last = *bucket = s;
	last = &s->later;
	nr_states++;
}

/* May the allocator return the 2^order frames from i on? */
static bool is_free(u32 i, u32 order)
{
	u32 pfn = zone.start_pfn + i;

	if (pfn % (1u << order) || pfn + (1u << order) > zone.end_pfn)
		return false;
	for (u32 j = i; j < i + (1u << order); j++)
		if (frames[j] != FREE)
			return false;
	return true;
}

/* Returns the order of the largest free block that contains frame i. */
static u32 around(u32 i)
{
	u32 order = 0;

	for (u32 k = 1; k < NR_ORDERS; k++) {
		u32 begin = (zone.start_pfn + i) & ~((1u << k) - 1);

		if (begin >= zone.start_pfn && is_free(begin - zone.start_pfn, k))
			order = k;
	}
	return order;
}

static void mark(u32 i, u32 order, bool held)
{
	memset(frames + i, held ? INNER : FREE, 1u << order);
	if (held)
		frames[i] = HELD + order;
}

static void try_alloc(const struct memory *m, u32 order)
{
	u32 best = NR_ORDERS, i;
	struct page *page;

	go_to(m);
	for (i = 0; i < NR; i++)
		if (is_free(i, order))
			best = MIN(best, around(i));
	page = buddy_alloc(&zone, order);
	EXPECT_EQ(page != NULL, best < NR_ORDERS);
	if (!page || best == NR_ORDERS)
		return;
	i = page - at(0);
	EXPECT(is_free(i, order));
	EXPECT_EQ(around(i), best);
	mark(i, order, true);
	INIT_LIST_HEAD(&page->lru); /* owners may use lru */
	reached();
}

static void try_free(const struct memory *m, u32 i)
{
	u32 order = m->frames[i] - HELD;

	go_to(m);
	buddy_free(&zone, at(i), order);
	mark(i, order, false);
	reached();
	EXPECT_PANIC(buddy_free(&zone, at(i), order));
}

static void judge(const struct memory *m)
{
	u32 nr_free = 0;

	go_to(m);
	for (u32 i = 0; i < NR; i++)
		nr_free += frames[i] == FREE;
	EXPECT_EQ(zone.nr_free, nr_free);
	EXPECT_EQ(buddy_check(&zone), 0);
}

/* Makes the zone's neighbours look free, each as a block of this order. */
static void start(u32 where, u32 n, u32 present, u32 order)
{
	memset(mem_map, 0, (3 * MARGIN + NR) * sizeof(*mem_map));
	memset(&zone, 0, sizeof(zone));
	zone.start_pfn = MARGIN + where;
	zone.end_pfn = zone.start_pfn + n;
	for (u32 pfn = 0; pfn < 3 * MARGIN + NR; pfn++)
		if (pfn < zone.start_pfn || pfn >= zone.end_pfn) {
			page_set(pfn_page(pfn), PG_buddy);
			pfn_page(pfn)->order = order;
		}
	buddy_init(&zone);
	memset(frames, ABSENT, NR);
	for (u32 i = 0; i < n; i++)
		if (present >> i & 1) {
			buddy_free(&zone, at(i), 0);
			frames[i] = FREE;
		}
	first = NULL;
	last = &first;
	reached();
}

/* Visits all states of one memory. */
static void visit_all(void)
{
	struct state *s, *next;

	for (s = first; s; s = s->later) {
		judge(&s->memory);
		for (u32 order = 0; order < NR_ORDERS; order++)
			try_alloc(&s->memory, order);
		for (u32 i = 0; i < NR; i++)
			if (s->memory.frames[i] >= HELD)
				try_free(&s->memory, i);
	}
	for (s = first; s; s = next) {
		next = s->later;
		free(s);
	}
	memset(buckets, 0, sizeof(buckets));
}

KTEST(buddy_proof, all_sequences_in_all_small_memories)
{
	host_ram_create(3 * MARGIN + NR);
	for (u32 n = 1; n <= host_bound("FRAMES", 6); n++)
		for (u32 where = 0; where < MARGIN; where++)
			for (u32 present = 1; present < 1u << n; present += 2) {
				start(where, n, present, present / 2 % 3);
				visit_all();
			}
	ktap_note("%u states, %u calls", nr_states, nr_calls);
	host_ram_destroy();
}
