/* Parses partition tables; pure code. The formats: drivers/partition.c. */
#ifndef DRIVERS_PARTITION_H
#define DRIVERS_PARTITION_H

#include "types.h"

#define MAX_PARTITIONS 15u /* per disk: its minor numbers */

struct partition {
	u32 number; /* from 1; logical ones from 5 */
	u32 start, nr_sectors;
};

struct partition_table {
	struct partition parts[MAX_PARTITIONS];
	u32 nr;
	const char *wrong; /* the defect, or NULL; nr is then 0, unless a copy is used */
};

struct partition_source {
	u32 nr_sectors;
	/* Reads one sector: 0 or -EIO. May sleep. */
	int (*read)(struct partition_source *source, u32 sector, u8 *to);
};

/* A missing table is not an error: nr is 0 and wrong is NULL. */
void partition_table_read(struct partition_source *source, struct partition_table *table);

#endif
