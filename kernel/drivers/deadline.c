/*
 * block.elevator=deadline: disks serve requests in ascending order of sectors, but none too late. After
 * Jens Axboe's in Linux 2.6.
 *
 * In the order of sectors the head moves little. After BATCH requests, or at the end of the sectors, the
 * disk chooses anew. Reads come before writes, since a task waits for each read, but at most STARVED times
 * in a row while writes wait. If the oldest request has waited too long, or no request lies ahead, the
 * oldest is next. A bio may join any waiting request.
 */
#include "drivers/disk.h"

#include "arch/time.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"

#define BATCH 16u
#define STARVED 2u

static const u64 limit_ns[2] = { [BLOCK_READ] = 500000000, [BLOCK_WRITE] = 5000000000 };

static struct request *by_sector(struct rb_node *node)
{
	return node ? rb_entry(node, struct request, by_sector) : NULL;
}

static void insert(struct disk *d, struct request *rq)
{
	struct rb_root *root = &d->sorted[rq->write];
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = rq->sector < by_sector(parent)->sector ? &parent->rb_left
							      : &parent->rb_right;
	}
	rb_link_node(&rq->by_sector, parent, link);
	rb_insert_color(&rq->by_sector, root);
}

static void deadline_add(struct disk *d, struct request *rq)
{
	list_add_tail(&rq->node, &d->arrival[rq->write]);
	insert(d, rq);
}

static void deadline_moved(struct disk *d, struct request *rq)
{
	rb_erase(&rq->by_sector, &d->sorted[rq->write]);
	insert(d, rq);
}

/* Returns the first request at or after this sector. */
static struct request *find_from(const struct disk *d, bool write, u32 sector)
{
	struct rb_node *node = d->sorted[write].rb_node, *found = NULL;

	while (node) {
		bool here = by_sector(node)->sector >= sector;

		if (here)
			found = node;
		node = here ? node->rb_left : node->rb_right;
	}
	return by_sector(found);
}

static struct request *deadline_neighbour(struct disk *d, const struct bio *bio, bool *front)
{
	struct request *after, *before;

	after = find_from(d, bio->write, bio->bdev->start + bio->sector);
	before = by_sector(after ? rb_prev(&after->by_sector) : rb_last(&d->sorted[bio->write]));
	if (before && request_adjoins(before, bio, front))
		return before;
	return after && request_adjoins(after, bio, front) ? after : NULL;
}

static struct request *oldest(const struct disk *d, bool write)
{
	return list_first_entry_or_null(&d->arrival[write], struct request, node);
}

static bool is_late(const struct request *rq)
{
	return rq && clock_ns() - rq->submitted_ns >= limit_ns[rq->write];
}

static bool choose_direction(struct disk *d)
{
	bool reads = oldest(d, BLOCK_READ), writes = oldest(d, BLOCK_WRITE);

	if (!reads || (writes && d->starved >= STARVED)) {
		d->starved = 0;
		return true;
	}
	d->starved += writes;
	return false;
}

/* Returns the next request in the current direction, or chooses anew. */
static struct request *next_or_anew(struct disk *d)
{
	struct request *rq = find_from(d, d->writing, d->position), *first;
	bool write;

	if (rq && d->batch < BATCH)
		return rq;
	d->batch = 0;
	write = choose_direction(d);
	first = oldest(d, write);
	rq = find_from(d, write, d->position);
	return rq && !is_late(first) ? rq : first;
}

static struct request *deadline_choose(struct disk *d)
{
	struct request *rq = next_or_anew(d);

	rb_erase(&rq->by_sector, &d->sorted[rq->write]);
	d->batch++;
	return rq;
}

static const struct elevator deadline = {
	.add = deadline_add,
	.moved = deadline_moved,
	.neighbour = deadline_neighbour,
	.choose = deadline_choose,
};

static const char *parse_elevator(const char *text)
{
	if (strcmp(text, "fifo") && strcmp(text, "deadline"))
		return "unknown elevator";
	block_elevator = text[0] == 'd' ? &deadline : NULL;
	return NULL;
}

static void list_elevators(char *buf, size_t size)
{
	snprintf(buf, size, "fifo|deadline");
}

static void show_elevator(char *buf, size_t size)
{
	snprintf(buf, size, block_elevator ? "deadline" : "fifo");
}

PARAM_ENUM("block.elevator", parse_elevator, list_elevators, show_elevator,
	   "which request a disk serves next", AT_BOOT);
