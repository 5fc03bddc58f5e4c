/*
 * The "newc" format of cpio archives (kernel documentation: initramfs buffer format). Each member
 * has a header of 110 bytes, "070701" and 13 numbers of 8 hexadecimal digits, then the name with
 * its NUL, then the data. Name and data are padded to multiples of 4 bytes from the archive's
 * start. The member named TRAILER!!! ends the archive.
 *
 * An archive is untrusted input: every length is checked against the remaining bytes before it is
 * used, without overflow.
 */
#include "newc.h"

#include "errno.h"
#include "lib/string.h"

#define HEADER_SIZE 110u

enum field {
	F_INO,
	F_MODE,
	F_UID,
	F_GID,
	F_NLINK,
	F_MTIME,
	F_FILESIZE,
	F_MAJOR,
	F_MINOR,
	F_RMAJOR,
	F_RMINOR,
	F_NAMESIZE,
	F_CHECK,
	NR_FIELDS,
};

static int wrong(struct newc_reader *r, const char *what)
{
	r->wrong = what;
	return -EINVAL;
}

static int hex_digit(u8 c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_fields(const u8 *p, u32 field[NR_FIELDS])
{
	for (int i = 0; i < NR_FIELDS * 8; i++) {
		int digit = hex_digit(p[i]);

		if (digit < 0)
			return -EINVAL;
		field[i / 8] = field[i / 8] << 4 | (u32)digit;
	}
	return 0;
}

/* Takes n bytes, and any padding behind them. Returns NULL if fewer than n remain. */
static const u8 *take(struct newc_reader *r, u32 n)
{
	const u8 *p = r->archive + r->offset;

	if (n > r->size - r->offset)
		return NULL;
	r->offset += n;
	r->offset += MIN(-r->offset & 3, r->size - r->offset);
	return p;
}

static int check_magic(struct newc_reader *r, const u8 *magic)
{
	if (!memcmp(magic, "070701", 6))
		return 0;
	if (magic[0] == 0x1f && magic[1] == 0x8b)
		return wrong(r, "compressed with gzip; only plain newc is understood");
	if (!memcmp(magic, "0707", 4))
		return wrong(r, "another form of cpio; make it with -H newc");
	return wrong(r, "no cpio header (070701) here");
}

int newc_next(struct newc_reader *r, struct newc_entry *e)
{
	u32 field[NR_FIELDS] = { 0 };
	const u8 *header, *name;
	u32 namesize;

	r->entry_offset = r->offset;
	if (r->offset == r->size)
		return wrong(r, "the archive ends without a trailer");
	if (r->size - r->offset < HEADER_SIZE)
		return wrong(r, "cut off inside a header");
	header = r->archive + r->offset;
	if (check_magic(r, header))
		return -EINVAL;
	if (parse_fields(header + 6, field))
		return wrong(r, "a header field is not a hexadecimal number");
	namesize = field[F_NAMESIZE];
	if (!namesize || namesize > NEWC_MAX_NAME)
		return wrong(r, "the length of a name is out of range");
	header = take(r, HEADER_SIZE + namesize);
	if (!header)
		return wrong(r, "cut off inside a name");
	name = header + HEADER_SIZE;
	if (name[namesize - 1] || strlen((const char *)name) != namesize - 1)
		return wrong(r, "a name does not end where it should");
	if (!strcmp((const char *)name, "TRAILER!!!"))
		return -ENOENT;
	*e = (struct newc_entry){
		.ino = field[F_INO],
		.mode = field[F_MODE],
		.nlink = field[F_NLINK],
		.mtime_s = field[F_MTIME],
		.rdev = field[F_RMAJOR] << 8 | (field[F_RMINOR] & 0xff),
		.name = (const char *)name,
		.size = field[F_FILESIZE],
		.data = take(r, field[F_FILESIZE]),
	};
	return e->data ? 0 : wrong(r, "cut off inside the data of a file");
}
