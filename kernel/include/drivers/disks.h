/* The disks to look for: the parameter disk=; and what is on them. */
#ifndef DRIVERS_DISKS_H
#define DRIVERS_DISKS_H

#include "types.h"

/* A kind of disk that disk= and swap= may name; its driver registers it. */
struct disk_kind {
	const char *name, *prefix; /* of its disks: ide, hd */
	/* Registers its disks with the block layer. Returns false if the machine has none. Called at
	 * boot, at most once. Polls, does not sleep. */
	bool (*find)(void);
	bool wanted, must_be; /* by swap=, by disk= */
};

/* DISK_KIND(ide) = { .name = "ide", ... }; registers it. The linker puts all of them side by side. */
#define DISK_KIND(var)                                                                             \
	static struct disk_kind var __attribute__((used, no_reorder, section(".disk_kinds"),       \
						   aligned(__alignof__(struct disk_kind))))

/* Returns true if name is a disk of the machine, or a partition of one (hda, vda2). Its kind is
 * then looked for, as with disk=. sda needs its own disk=. */
bool disks_want(const char *name);

/*
 * Finds the disks and registers them, while memory is being set up. Requests are possible once
 * interrupts are on. If a disk named by disk= is missing, prints the reason and ends the machine.
 */
void disks_find(void);

#endif
