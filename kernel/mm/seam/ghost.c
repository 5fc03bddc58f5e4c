/*
 * The table of ghosts (mm/ghost.h): chained hashing, with places that are allocated in chunks of one page.
 *
 * Swap slots are numbered from 0. So if the table has a place for each slot, nearly every ghost has a
 * bucket of its own. The page numbers of other stores are shifted by a multiple of the store's number.
 */
#include "mm/ghost.h"

#include "errno.h"
#include "mm/slab.h"

#define PER_CHUNK (PAGE_SIZE / sizeof(struct ghost))

static u32 nr_chunks(u32 capacity)
{
	return (capacity + PER_CHUNK - 1) / PER_CHUNK;
}

static struct ghost *place(const struct ghosts *g, u32 i)
{
	return &g->chunks[i / PER_CHUNK][i % PER_CHUNK];
}

static struct ghost **bucket_of(const struct ghosts *g, struct page_id id)
{
	return &place(g, (id.index + id.store * 0x9E3779B1u) % g->capacity)->bucket;
}

int ghosts_init(struct ghosts *g, u32 capacity)
{
	u32 nr = nr_chunks(capacity);

	*g = (struct ghosts){ .capacity = capacity };
	g->chunks = kzalloc(nr * sizeof(*g->chunks), GFP_KERNEL);
	for (u32 i = 0; g->chunks && i < nr; i++) {
		g->chunks[i] = kzalloc(PAGE_SIZE, GFP_KERNEL);
		if (!g->chunks[i])
			break;
	}
	if (!g->chunks || !g->chunks[nr - 1]) {
		ghosts_exit(g);
		return -ENOMEM;
	}
	for (u32 i = capacity; i-- > 0;) {
		place(g, i)->next = g->free;
		g->free = place(g, i);
	}
	return 0;
}

void ghosts_exit(struct ghosts *g)
{
	for (u32 i = 0; g->chunks && i < nr_chunks(g->capacity); i++)
		kfree(g->chunks[i]);
	kfree(g->chunks);
	*g = (struct ghosts){ 0 };
}

struct ghost *ghost_find(const struct ghosts *g, struct page_id id)
{
	struct ghost *at = *bucket_of(g, id);

	while (at && (at->id.index != id.index || at->id.store != id.store))
		at = at->next;
	return at;
}

struct ghost *ghost_add(struct ghosts *g, struct page_id id)
{
	struct ghost *ghost = ghost_find(g, id), **bucket;

	if (ghost)
		ghost_drop(g, ghost);
	ghost = g->free;
	if (!ghost)
		return NULL;
	bucket = bucket_of(g, id);
	g->free = ghost->next;
	g->nr++;
	INIT_LIST_HEAD(&ghost->node);
	ghost->id = id;
	ghost->data = 0;
	ghost->next = *bucket;
	*bucket = ghost;
	return ghost;
}

void ghost_drop(struct ghosts *g, struct ghost *ghost)
{
	struct ghost **at = bucket_of(g, ghost->id);

	while (*at != ghost)
		at = &(*at)->next;
	*at = ghost->next;
	list_del(&ghost->node);
	ghost->next = g->free;
	g->free = ghost;
	g->nr--;
}
