/* The disk of the swap area. */
#ifndef DRIVERS_SWAPDISK_H
#define DRIVERS_SWAPDISK_H

#include "types.h"

#include "drivers/simdisk.h"

struct block_device;

/* Set by drivers/swap_choice.c. Chooses the disk by the text of swap=. Returns NULL, or an error message. */
extern const char *(*swapdisk_choose)(const char *text); /* NULL: there is only swap=sim:hdd */
extern const char *swapdisk_choices; /* for messages */
extern char swapdisk_spec[SIMDISK_SPEC_MAX]; /* the text of swap= */
/* Finds another disk than the modelled one, or ends the machine. Returns NULL for swap=none. */
extern struct block_device *(*swapdisk_find_other)(void); /* NULL: the modelled disk */
extern bool swapdisk_is_partition; /* of the disk that swapdisk_find finds */

/* Returns true for the modelled disk, whose data lie in memory above mem=. */
bool swapdisk_in_memory(void);

/*
 * Finds the disk and returns its size in pages; 0: swap=none. Called while memory is being set up,
 * after disks_find. If there is no such disk, prints the existing ones and ends the machine.
 */
u32 swapdisk_find(void);

/* Claims the disk for swap, and prints and returns it. */
struct block_device *swapdisk_announce(struct block_device *b);
/* The same for the disk found. Returns NULL for swap=none or a partition. */
struct block_device *swapdisk_open(void);
/* drivers/swap_choice.c: like swapdisk_open, for a partition. Call it after the partition tables have been
 * read. Returns NULL if swap= names no partition. */
struct block_device *swapdisk_open_partition(void);

#endif
