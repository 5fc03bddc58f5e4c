/*
 * A disk at its worst. Writes go to the drive's cache; a flush brings them to the medium. After a
 * power failure, each sector written since the last flush is on the medium or is not.
 *
 * Blocks of metadata are allocated one by one, so that the address sanitizer detects overruns, and
 * freed as soon as they are clean and unused, so that it detects a use after that. A block that was
 * changed but not marked dirty is reported when it is read again.
 */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct write {
	u32 sector, bytes;
	u8 *data;
};

struct block {
	u32 sector, size, refs;
	bool dirty, forgotten;
	char *data;
};

struct block_device disk = { .name = "image" };
static u8 *view, *medium; /* what reads return; what survives a power failure */
static struct write *writes; /* since the last flush */
static u32 nr_writes, writes_left = ~0u, cut_seed;
static u32 nr_settled; /* number of all writes before those */
static bool recorded; /* each write and each flush is printed */
static bool no_flush, no_write; /* the next one fails */
static void (*when_cut)(void);
static u32 failing, fail_seed; /* one read in this number fails; 0: none */
static u32 works_for = ~0u; /* number of reads of metadata and flushes before all fail */
static struct block **blocks; /* by first sector */
static bool *lost; /* by first sector: changed since it was written, and no longer in memory */
static bool held; /* dirty blocks of metadata stay in memory */
void (*cache_commit)(struct inode *device);
static bool busy; /* all dirty blocks are written whenever memory is allocated */

u32 host_random(u32 *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

void disk_open(const u8 *bytes, u32 size)
{
	disk.nr_sectors = size / SECTOR_SIZE;
	view = malloc(size);
	medium = malloc(size);
	memcpy(view, bytes, size);
	memcpy(medium, bytes, size);
	blocks = calloc(disk.nr_sectors, sizeof(*blocks));
	lost = calloc(disk.nr_sectors, sizeof(*lost));
}

/* Forgets the first n of the writes since the last flush. */
static void forget_writes(u32 n)
{
	for (u32 i = 0; i < n; i++)
		free(writes[i].data);
	nr_writes -= n;
	nr_settled += n;
	for (u32 i = 0; i < nr_writes; i++)
		writes[i] = writes[i + n];
}

void disk_close(void)
{
	for (u32 i = 0; i < disk.nr_sectors; i++) {
		if (blocks[i])
			free(blocks[i]->data);
		free(blocks[i]);
	}
	forget_writes(nr_writes);
	free(writes);
	writes = NULL;
	free(blocks);
	free(lost);
	free(view);
	free(medium);
}

/* Brings a write's sectors to the medium: each with a probability of quarters / 4. */
static void settle(const struct write *w, u32 quarters)
{
	for (u32 at = 0; at < w->bytes; at += SECTOR_SIZE)
		if (quarters >= 4 || host_random(&cut_seed) % 4 < quarters)
			memcpy(medium + (u64)w->sector * SECTOR_SIZE + at, w->data + at,
			       SECTOR_SIZE);
}

static bool works(void)
{
	if (works_for && works_for != ~0u)
		works_for--;
	return works_for;
}

/* Does the next flush or write fail, as disk_refuse said? */
static bool refused(bool *next)
{
	bool is_refused = *next;

	*next = false;
	return is_refused;
}

/* What the second program's flush does not cover was written while it was under way. */
int block_flush(struct block_device *bdev)
{
	u32 end = nr_settled + nr_writes, n, later = 0;

	(void)bdev;
	if (!works() || refused(&no_flush))
		return -EIO;
	second_waits();
	n = end > nr_settled ? end - nr_settled : 0;
	for (u32 i = 0; i < n; i++)
		settle(&writes[i], 4);
	forget_writes(n);
	for (u32 i = 0; i < nr_writes; i++)
		later += writes[i].bytes / SECTOR_SIZE;
	if (recorded)
		printf("flush %u\n", later);
	return 0;
}

const u8 *disk_medium(void)
{
	return medium;
}

void disk_cut_after(u32 n, u32 seed, void (*on_cut)(void))
{
	writes_left = n;
	cut_seed = seed;
	when_cut = on_cut;
}

void disk_busy(void)
{
	busy = true;
}

void disk_record(void)
{
	recorded = true;
}

void disk_refuse(bool flush)
{
	*(flush ? &no_flush : &no_write) = true;
}

void disk_fail(u32 one_in, u32 seed)
{
	failing = one_in;
	fail_seed = seed;
}

void disk_break_after(u32 n)
{
	works_for = n ? n : ~0u;
}

static void cut(void)
{
	for (u32 i = 0; i < nr_writes; i++)
		settle(&writes[i], host_random(&cut_seed) % 5);
	when_cut();
}

void disk_read(u32 sector, void *to, u32 bytes)
{
	memcpy(to, view + (u64)sector * SECTOR_SIZE, bytes);
}

static void print_write(const struct write *w)
{
	printf("write %u ", w->sector);
	for (u32 i = 0; i < w->bytes; i++)
		printf("%02x", w->data[i]);
	printf("\n");
}

void disk_write(u32 sector, const void *from, u32 bytes)
{
	struct write *w;

	if (!writes_left)
		cut();
	if (writes_left != ~0u)
		writes_left--;
	memcpy(view + (u64)sector * SECTOR_SIZE, from, bytes);
	if (nr_writes % 64 == 0)
		writes = realloc(writes, (nr_writes + 64) * sizeof(*writes));
	w = &writes[nr_writes++];
	*w = (struct write){ .sector = sector, .bytes = bytes, .data = malloc(bytes) };
	memcpy(w->data, from, bytes);
	if (recorded)
		print_write(w);
}

void cache_will_need(struct inode *inode, u32 first, u32 nr)
{
	(void)inode, (void)first, (void)nr;
}

/* Blocks of metadata. */

static struct block *get(struct super_block *sb, u32 number)
{
	u32 sector = number * (sb->block_size / SECTOR_SIZE);
	struct block *block = blocks[sector];

	if (!block) {
		if (lost[sector]) {
			fprintf(stderr, "sector %u lost what was written to it\n", sector);
			exit(1);
		}
		block = calloc(1, sizeof(*block));
		block->sector = sector;
		block->size = sb->block_size;
		block->data = malloc(block->size);
		blocks[sector] = block;
		disk_read(sector, block->data, block->size);
	}
	block->refs++;
	return block;
}

static void free_if_idle(struct block *block)
{
	if (block->refs || block->dirty)
		return;
	lost[block->sector] =
		!block->forgotten &&
		memcmp(block->data, view + (u64)block->sector * SECTOR_SIZE, block->size);
	blocks[block->sector] = NULL;
	free(block->data);
	free(block);
}

static struct block *block_of(struct buf *b)
{
	return blocks[b->block * (b->size / SECTOR_SIZE)];
}

int buf_read(struct super_block *sb, u32 number, struct buf *b)
{
	struct block *block;

	second_may_begin(true);
	if (busy)
		buf_sync_all(&disk);
	if (!works() || (failing && host_random(&fail_seed) % failing == 0))
		return -EIO;
	if ((u64)(number + 1) * (sb->block_size / SECTOR_SIZE) > disk.nr_sectors)
		return -EIO;
	block = get(sb, number);
	*b = (struct buf){
		.data = block->data, .bdev = &disk, .block = number, .size = block->size
	};
	return 0;
}

int buf_new(struct super_block *sb, u32 number, struct buf *b)
{
	int err = buf_read(sb, number, b);

	if (!err) {
		memset(b->data, 0, b->size);
		buf_dirty(b);
	}
	return err;
}

void buf_dirty(struct buf *b)
{
	block_of(b)->dirty = true;
	block_of(b)->forgotten = false;
}

void buf_put(struct buf *b)
{
	struct block *block = block_of(b);

	block->refs--;
	free_if_idle(block);
}

void buf_forget(struct super_block *sb, u32 number)
{
	struct block *block = blocks[number * (sb->block_size / SECTOR_SIZE)];

	lost[number * (sb->block_size / SECTOR_SIZE)] = false;
	if (!block)
		return;
	block->dirty = false;
	block->forgotten = true;
	free_if_idle(block);
}

static void write_block(struct block *block)
{
	block->dirty = false;
	disk_write(block->sector, block->data, block->size);
	free_if_idle(block);
}

int buf_sync_all(struct block_device *bdev)
{
	/* The order is unspecified: starts anywhere, goes forwards or backwards. */
	static u32 state;
	u32 nr = bdev->nr_sectors, from = host_random(&state) % nr;
	bool back = host_random(&state) & 1;

	if (held)
		return 0;
	if ((host_sb.log && !works()) || refused(&no_write))
		return -EIO;
	for (u32 n = 0; n < nr; n++) {
		struct block *block = blocks[(back ? from + nr - n : from + n) % nr];

		if (block && block->dirty)
			write_block(block);
	}
	return 0;
}

void disk_flush_some(u32 n, u32 seed)
{
	u32 from = host_random(&seed) % disk.nr_sectors;

	for (u32 i = 0; !held && n && i < disk.nr_sectors; i++) {
		struct block *block = blocks[(from + i) % disk.nr_sectors];

		if (block && block->dirty && host_random(&seed) & 1) {
			write_block(block);
			n--;
		}
	}
}

u32 disk_nr_held(void)
{
	u32 held = 0;

	for (u32 i = 0; i < disk.nr_sectors; i++)
		held += blocks[i] ? blocks[i]->refs : 0;
	return held;
}

/* For a log. */

bool buf_next_dirty(struct super_block *sb, u32 from, struct buf *b)
{
	u32 sectors = sb->block_size / SECTOR_SIZE;

	for (u64 at = (u64)from * sectors; at < disk.nr_sectors; at += sectors) {
		struct block *block = blocks[at];

		if (!block || !block->dirty)
			continue;
		block->refs++;
		*b = (struct buf){ .data = block->data,
				   .bdev = &disk,
				   .block = at / sectors,
				   .size = block->size };
		return true;
	}
	return false;
}

void buf_hold(struct block_device *bdev, bool hold)
{
	(void)bdev;
	held = hold;
}

u32 buf_lose_all(struct block_device *bdev)
{
	u32 lost = 0;

	for (u32 i = 0; i < bdev->nr_sectors; i++) {
		if (!blocks[i] || !blocks[i]->dirty)
			continue;
		blocks[i]->dirty = false;
		blocks[i]->forgotten = true;
		free_if_idle(blocks[i]);
		lost++;
	}
	return lost;
}

int buf_move(struct super_block *sb, u32 block, u32 nr, char *const *memory, u32 first, bool write)
{
	u32 size = sb->block_size, n = PAGE_SIZE / size, sector = block * (size / SECTOR_SIZE);
	u8 *bytes = malloc(nr * size);

	if (!works()) {
		free(bytes);
		return -EIO;
	}
	if (!write)
		disk_read(sector, bytes, nr * size);
	for (u32 i = 0; i < nr; i++) {
		char *at = memory[(first + i) / n] + (first + i) % n * size;

		memcpy(write ? (char *)bytes + i * size : at, write ? at : (char *)bytes + i * size,
		       size);
	}
	if (write)
		disk_write(sector, bytes, nr * size);
	free(bytes);
	return 0;
}
