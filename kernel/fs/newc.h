/* Reads "newc" cpio archives in place. Pure code. */
#ifndef FS_NEWC_H
#define FS_NEWC_H

#include "types.h"

#define NEWC_MAX_NAME 1024u /* with the NUL */

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
	u32 entry_offset;  /* of the last header read: the position of an error */
	const char *wrong; /* after -EINVAL: the error message */
};

/* Reads the next member. Returns 0, -ENOENT at the trailer, or -EINVAL with r->wrong and
 * r->entry_offset. Never reads outside the archive. Start with archive and size set and all else
 * zero. */
int newc_next(struct newc_reader *r, struct newc_entry *e);

#endif
