/* What a partition table says; pure code. The formats: drivers/partition.c. */
#ifndef DRIVERS_PARTITION_H
#define DRIVERS_PARTITION_H

#include "types.h"

#define MAX_PARTITIONS 15u /* of a disk: its minor numbers */

struct partition {
	u32 number; /* from 1; logical ones from 5 */
	u32 start, nr_sectors;
};

struct partition_table {
	struct partition parts[MAX_PARTITIONS];
	u32 nr;
	const char *wrong; /* what is wrong with it: then nr is 0, unless a copy is used; or NULL */
};

struct partition_source {
	u32 nr_sectors;
	/* Reads one sector: 0 or -EIO. May sleep. */
	int (*read)(struct partition_source *source, u32 sector, u8 *to);
};

/* No table is no error: then nr is 0 and wrong is NULL. */
void partition_table_read(struct partition_source *source, struct partition_table *table);

#endif
