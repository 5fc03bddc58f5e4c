/*
 * The interface between the simulator of allocators and an allocator.
 *
 * An allocator is one file: a `struct allocator` and ALLOCATOR(), which registers it. It hands out
 * addresses of an arena, memory that is only counted and never touched. Sizes and addresses are in
 * bytes; an address is a multiple of `unit`.
 *
 * There are two kinds. One manages the arena itself, and tells with hold() and release() which bytes
 * belong to blocks in use. The other takes pages from the page allocator below it (pages_take), which
 * is the kernel's buddy. Both ways tally.held counts the bytes of pages that nothing else can use.
 */
#ifndef ALLOCSIM_H
#define ALLOCSIM_H

#include "lib/list.h"
#include "mm/page.h"
#include "types.h"

#define NONE (~0u) /* not an address: out of memory */
#define MAX_UNITS (1u << 20)

struct allocator {
	const char *name;
	void (*start)(void);                  /* forgets everything; all of the arena is free */
	u32 (*alloc)(u32 size);               /* size > 0; returns an address, or NONE */
	void (*free)(u32 address, u32 size);  /* the size given to alloc */
	void (*reap)(void); /* gives pages without blocks in use back; may be NULL */
	bool (*sound)(void); /* do its invariants hold? may be NULL */
};

#define ALLOCATOR(it)                                                                              \
	static const struct allocator *const register_##it                                         \
		__attribute__((used, section("allocators"))) = &(it)

/* What the allocator counts of its own work. steps: list entries looked at. */
extern struct tally {
	u64 steps, splits, merges;
	u32 granted; /* bytes of blocks in use, with what belongs to the block but not to its user */
	u32 held; /* bytes of pages; counted by the functions below */
	u32 nr_free; /* free blocks in all lists */
} tally;

extern u32 unit; /* bytes: 16 for objects, a page for frames */
extern u32 nr_units; /* in the arena; a power of two of at most MAX_UNITS */

/* For each unit, what an allocator notes about a block that begins there. It decides what the fields mean. */
extern struct block {
	struct list_head list;
	u32 size; /* in units */
	u16 count;
	u8 order, state;
} blocks[MAX_UNITS];

/* Clears blocks[0 .. nr_units). */
void blocks_clear(void);

/* Counts the pages of [address, address + bytes) as held by one more block, or one fewer. */
void hold(u32 address, u32 bytes);
void release(u32 address, u32 bytes);

/* Takes nr contiguous pages; returns their address, or NONE. */
u32 pages_take(u32 nr);
void pages_give(u32 address, u32 nr);

static inline u32 in_units(u32 bytes)
{
	return (bytes + unit - 1) / unit;
}

/* ceil(log2(n)), n > 0. */
static inline u32 log2_above(u32 n)
{
	return n > 1 ? 32 - __builtin_clz(n - 1) : 0;
}

#endif
