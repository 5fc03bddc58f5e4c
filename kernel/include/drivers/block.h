/*
 * Block devices: disks, and partitions of disks, in sectors of 512 bytes.
 *
 * A bio moves pieces of pages to or from consecutive sectors of a device; its end function is
 * called when that is over, in irq context. What is behind it, queue and drivers: drivers/disk.h.
 *
 *	struct bio *bio = bio_get(bdev, sector, false, BIO_DATA, end);
 *	bio_add(bio, page, 0, PAGE_SIZE);
 *	block_submit(bio);
 *
 * Two bios for the same sector may be served in either order, unless the first has ended before
 * the second is submitted.
 */
#ifndef DRIVERS_BLOCK_H
#define DRIVERS_BLOCK_H

#include "lib/list.h"
#include "lib/rbtree.h"
#include "types.h"

struct page;
struct inode;
struct seq_file;
struct disk;
struct block_device;

#define SECTOR_SIZE 512u
#define SECTOR_SHIFT 9
#define BIO_MAX_PIECES 32u

/* What is moved, for the counts. */
enum bio_kind { BIO_SWAP, BIO_DATA, BIO_META, NR_BIO_KINDS };

struct bio_piece {
	struct page *page; /* any frame, HIGHMEM too */
	u16 offset, bytes; /* multiples of SECTOR_SIZE */
};

/* What a driver gets: one or more bios whose sectors follow one another. */
struct request {
	struct list_head node;    /* irq: the disk's queue, in order of arrival */
	struct rb_node by_sector; /* irq: with block.elevator=deadline */
	struct list_head bios;    /* of struct bio.node, in the order of their sectors */
	struct block_device *bdev;
	u32 sector;                /* first; of the disk, also where bdev is a partition */
	u32 nr_sectors, nr_pieces; /* 0 sectors: what was written before is to reach the medium */
	u8 kind;     /* enum bio_kind */
	bool write;
	u8 fails; /* enum fail_how, on purpose: observe/fail.h */
	u64 submitted_ns;
};

struct bio {
	struct list_head node; /* its request; or the pool */
	struct block_device *bdev;
	u32 sector;     /* first; of bdev */
	u32 nr_sectors; /* bio_add counts them */
	u32 nr;         /* pieces */
	u8 kind;        /* enum bio_kind */
	bool write;
	int error; /* out: 0 or -EIO */
	u64 submitted_ns;
	void (*end)(struct bio *bio); /* irq context; calls bio_put when done with it */
	void *private;                /* the submitter's */
	struct request own;           /* for the case that it begins a request */
	struct bio_piece piece[BIO_MAX_PIECES];
};

/*
 * A bio from the common pool. Sleeps until there is one: each that was submitted ends by itself.
 * That sleep counts as waiting for a page. Who has one submits it before he sleeps.
 */
struct bio *bio_get(struct block_device *bdev, u32 sector, bool write, enum bio_kind kind,
		    void (*end)(struct bio *bio));
/* Appends a piece; false: there is no room for it. */
static inline bool bio_add(struct bio *bio, struct page *page, u32 offset, u32 bytes)
{
	struct bio_piece *piece = &bio->piece[bio->nr];

	if (bio->nr == BIO_MAX_PIECES)
		return false;
	bio->nr++;
	bio->nr_sectors += bytes >> SECTOR_SHIFT;
	piece->page = page;
	piece->offset = offset;
	piece->bytes = bytes;
	return true;
}

void bio_put(struct bio *bio); /* irq-safe */

/*
 * Queues a bio, which must have a piece. Never sleeps; irq-safe. Beyond the end of the device, or
 * written where it is read-only, it ends in -EIO.
 */
void block_submit(struct bio *bio);

/* Its disk did not answer and was given up: nothing will ever be read or written again. */
bool block_is_dead(const struct block_device *bdev);

/* Writes that have ended are on the medium afterwards. Sleeps; 0 or -EIO. */
int block_flush(struct block_device *bdev);

/* Moves pieces, BIO_MAX_PIECES at most, and sleeps until that is over: 0 or -EIO. */
int block_move(struct block_device *bdev, u32 sector, bool write, enum bio_kind kind,
	       const struct bio_piece *piece, u32 nr);
/* The same with one piece of a page: for superblocks and tables. */
int block_rw(struct block_device *bdev, u32 sector, struct page *page, u32 offset, u32 bytes,
	     bool write);

void block_init(void); /* its files in /proc */

enum { BLOCK_READ, BLOCK_WRITE };

struct block_counts { /* irq */
	u64 requests[NR_BIO_KINDS][2]; /* by kind and direction; those that have ended */
	u64 sectors[NR_BIO_KINDS][2];
	u64 merged[2];  /* bios that joined a request */
	u64 wait_ns[2]; /* all requests' times from submission to end */
	u64 errors;     /* requests that failed */
	u32 in_flight;  /* requests not yet served */
};

struct block_device { /* a disk, or a partition of one */
	const char *name;
	u32 dev; /* major << 8 | minor */
	u32 nr_sectors;
	bool read_only;
	bool synchronous;   /* requests end before submit returns: reading ahead saves nothing */
	const char *holder; /* who uses it; NULL: nobody */
	u32 nr_lost; /* irq: pages and inodes given up as not to be written, since it was claimed */
	struct inode *inode; /* of /dev/NAME */
	struct disk *disk; /* that it is, or lies on */
	u32 start; /* its first sector there */
	struct list_head node; /* of all */
	struct block_counts count;
};

bool bdev_is_disk(const struct block_device *b); /* and no partition */
/* By "sda1" or "/dev/sda1", or by number; NULL: there is none. */
struct block_device *bdev_find(const char *name);
struct block_device *bdev_by_dev(u32 dev);
/* In order of registration; NULL: the first. Returns NULL after the last. */
struct block_device *bdev_next(struct block_device *b);

/*
 * Who wants a device for himself says so; holder is kept, not copied. 0, or -EBUSY: it is held, or
 * the disk that it lies on is, or a partition of it is.
 */
int bdev_claim(struct block_device *b, const char *holder);
void bdev_release(struct block_device *b);

/* All kinds together. */
u64 bdev_requests(const struct block_device *b, bool write);
u64 bdev_sectors(const struct block_device *b, bool write);
u64 bdev_wait_ns(const struct block_device *b); /* all requests' times from submission to end */
u64 bdev_busy_ns(const struct block_device *b); /* in which its disk served requests */

#endif
