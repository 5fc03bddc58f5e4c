/*
 * layout=N: where the sectors of the modelled disks lie on the medium.
 *
 * drivers/simdisk.c treats consecutive sectors as neighbours, so a stream over a whole disk never
 * seeks. A real disk is not one piece: a partition, a file of swap or a volume consists of extents,
 * defects are replaced by distant sectors, and how the pieces lie is an accident of the machine. The
 * results of an experiment should not hang on that accident, so the replicates of a sweep
 * differ in it, as they differ in jitter= (lib/jitter.c).
 *
 * With N > 0, each border between two MiB of a disk is broken with probability 1/2: the two sectors
 * beside it are not neighbours. An extent then has 2 MiB on average, which is larger than any
 * request of read-ahead. A hash of N, the disk and the border decides, so the same N gives the same
 * layout, byte for byte, and swap, sda and sdb have different ones. A request that begins at a
 * broken border, or crosses one, pays seek + rotation once, also if the head would have to move
 * anyway. Disks without seek and rotation ("sim:ssd", "sim:ram") do not change.
 *
 * With N = 0, as without the parameter, none of this code is called.
 */
#include "drivers/simdisk_state.h"
#include "lib/mix64.h"
#include "lib/param.h"

#define EXTENT_SECTORS ((1u << 20) / SECTOR_SIZE)
#define NOWHERE UINT32_MAX /* no request begins here */

static u32 layout;
static const struct disk_ops *plain;

static bool is_broken(const struct disk *d, u32 border)
{
	u64 place = (u64)d->whole.dev << 32 | border;

	return mix64(layout * MIX64_STEP + place) >> 63;
}

/* Does a broken border lie before the request's first sector, or between two of its sectors? */
static bool meets_broken_border(const struct disk *d, const struct request *rq)
{
	u32 border = MAX((rq->sector + EXTENT_SECTORS - 1) / EXTENT_SECTORS, 1u);

	for (; border * EXTENT_SECTORS < rq->sector + rq->nr_sectors; border++)
		if (is_broken(d, border))
			return true;
	return false;
}

static bool start_on_layout(struct disk *d, struct request *rq, int *error)
{
	if (meets_broken_border(d, rq))
		container_of(d, struct sim, disk)->head = NOWHERE;
	return plain->start(d, rq, error);
}

static void choose_layout(void)
{
	static const struct disk_ops laid_out = { .start = start_on_layout };

	if (!plain)
		plain = simdisk_ops;
	simdisk_ops = layout ? &laid_out : plain;
}

PARAM_U32("layout", layout, 0, UINT32_MAX, NULL,
	  "draws the borders at which a modelled disk is not contiguous; 0: none", AT_BOOT,
	  .changed = choose_layout);
