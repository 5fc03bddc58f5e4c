/*
 * Block devices: disks, and partitions of disks, in sectors of 512 bytes.
 *
 * A bio moves pieces of pages to or from consecutive sectors of a device. Its end function is
 * called on completion, in irq context. The queue and the drivers behind it: drivers/disk.h.
 *
 *	struct bio *bio = bio_get(bdev, sector, false, BIO_DATA, end);
 *	bio_add(bio, page, 0, PAGE_SIZE);
 *	block_submit(bio);
 *
 * Two bios for the same sector may be served in either order, unless the first has completed before
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

/* The kind of data, for the counters. */
enum bio_kind { BIO_SWAP, BIO_DATA, BIO_META, NR_BIO_KINDS };

struct bio_piece {
	struct page *page; /* any frame, HIGHMEM too */
	u16 offset, bytes; /* multiples of SECTOR_SIZE */
};

/* What a driver gets: one or more bios with consecutive sectors. */
struct request {
	struct list_head node;    /* irq: the disk's queue, in order of arrival */
	struct rb_node by_sector; /* irq: with block.elevator=deadline */
	struct list_head bios;    /* of struct bio.node, in the order of their sectors */
	struct block_device *bdev;
	u32 sector;                /* first; counted on the disk, even if bdev is a partition */
	u32 nr_sectors, nr_pieces; /* 0 sectors: a flush of earlier writes */
	u8 kind;     /* enum bio_kind */
	bool write;
	u8 fails; /* enum fail_how: injected failure, observe/fail.h */
	u64 submitted_ns;
};

struct bio {
	struct list_head node; /* in its request, or in the pool */
	struct block_device *bdev;
	u32 sector;     /* first; of bdev */
	u32 nr_sectors; /* counted by bio_add */
	u32 nr;         /* pieces */
	u8 kind;        /* enum bio_kind */
	bool write;
	int error; /* out: 0 or -EIO */
	u64 submitted_ns;
	void (*end)(struct bio *bio); /* irq context; calls bio_put when done with it */
	void *private;                /* the submitter's */
	struct request own;           /* used if the bio begins a request */
	struct bio_piece piece[BIO_MAX_PIECES];
};

/*
 * Takes a bio from the common pool. Sleeps until one is available, since every submitted bio
 * completes by itself. The sleep counts as waiting for a page. Submit the bio before sleeping
 * again.
 */
struct bio *bio_get(struct block_device *bdev, u32 sector, bool write, enum bio_kind kind,
		    void (*end)(struct bio *bio));
/* Appends a piece. Returns false if there is no room. */
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
 * Queues a bio, which must have a piece. Never sleeps; irq-safe. The bio ends with -EIO if it
 * reaches beyond the end of the device, or writes to a read-only one.
 */
void block_submit(struct bio *bio);

/* Returns true if its disk did not answer and was given up: all further I/O fails. */
bool block_is_dead(const struct block_device *bdev);

/* Makes completed writes reach the medium. Sleeps. Returns 0 or -EIO. */
int block_flush(struct block_device *bdev);

/* Moves pieces, BIO_MAX_PIECES at most, and sleeps until done. Returns 0 or -EIO. */
int block_move(struct block_device *bdev, u32 sector, bool write, enum bio_kind kind,
	       const struct bio_piece *piece, u32 nr);
/* block_move with one piece of a page: for superblocks and tables. */
int block_rw(struct block_device *bdev, u32 sector, struct page *page, u32 offset, u32 bytes,
	     bool write);

enum { BLOCK_READ, BLOCK_WRITE };

struct block_counts { /* irq */
	u64 requests[NR_BIO_KINDS][2]; /* completed ones, by kind and direction */
	u64 sectors[NR_BIO_KINDS][2];
	u64 merged[2];  /* bios that joined a request */
	u64 wait_ns[2]; /* sum of all requests' times from submission to completion */
	u64 errors;     /* requests that failed */
	u32 in_flight;  /* requests queued or being served */
};

struct block_device { /* a disk, or a partition of one */
	const char *name;
	u32 dev; /* major << 8 | minor */
	u32 nr_sectors;
	bool read_only;
	bool synchronous;   /* requests complete inside submit: readahead saves nothing */
	const char *holder; /* its user; NULL: unused */
	u32 nr_lost; /* irq: pages and inodes given up as unwritable since it was claimed */
	struct inode *inode; /* of /dev/NAME */
	struct disk *disk; /* the whole disk, or the disk it lies on */
	u32 start; /* its first sector on that disk */
	struct list_head node; /* in the list of all */
	struct block_counts count;
};

bool bdev_is_disk(const struct block_device *b); /* not a partition */
/* Find a device by "sda1" or "/dev/sda1", or by number. Return NULL if there is none. */
struct block_device *bdev_find(const char *name);
struct block_device *bdev_by_dev(u32 dev);
/* Iterates in order of registration; NULL: returns the first. Returns NULL after the last. */
struct block_device *bdev_next(struct block_device *b);

/*
 * Claims a device for exclusive use. holder is kept, not copied. Returns 0, or -EBUSY if the device
 * is claimed already, or the disk that it lies on, or one of its partitions.
 */
int bdev_claim(struct block_device *b, const char *holder);
void bdev_release(struct block_device *b);

/* Totals over all kinds of data (enum bio_kind). */
u64 bdev_requests(const struct block_device *b, bool write);
u64 bdev_sectors(const struct block_device *b, bool write);
u64 bdev_wait_ns(const struct block_device *b); /* sum of times from submission to completion */
u64 bdev_busy_ns(const struct block_device *b); /* time in which its disk served requests */

#endif
