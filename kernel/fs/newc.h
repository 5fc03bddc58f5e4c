/* The "newc" form of cpio archives, read in place. Pure. */
#ifndef FS_NEWC_H
#define FS_NEWC_H

#include "types.h"

#define NEWC_MAX_NAME 1024u /* with its NUL */

struct newc_entry {
	u32 ino, mode, nlink, mtime_s; /* mtime: seconds since 1970 */
	u32 rdev;        /* major << 8 | minor */
	const char *name;              /* NUL-terminated, in the archive */
	const u8 *data;                /* size bytes, in the archive */
	u32 size;
};

struct newc_reader {
	const u8 *archive;
	u32 size;          /* bytes */
	u32 offset;        /* of the next header */
	u32 entry_offset;  /* of the header read last: where it is when something is wrong */
	const char *wrong; /* after -EINVAL: what is wrong there */
};

/* The next member: 0, -ENOENT at the trailer, or -EINVAL with r->wrong and r->entry_offset. Nothing
 * outside the archive is ever read. Start with all but archive and size zero. */
int newc_next(struct newc_reader *r, struct newc_entry *e);

#endif
