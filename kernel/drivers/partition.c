/*
 * Partition tables. An invalid table is not used at all, since no part of it can be trusted.
 *
 * MBR. The first sector ends with 55 AA and has four entries of 16 bytes, from byte 446 on: state
 * (80 or 0), type at 4 (0: unused), first sector at 8, number of sectors at 12. One entry may be an
 * extended partition (type 5, F or 85). It begins with a sector of the same form: the first entry
 * is a logical partition, counted from that sector, and the second is the next such sector, counted
 * from the beginning of the extended partition.
 *
 * GPT (UEFI specification, 5.3). The MBR then has a partition of type EE, for software that does
 * not know GPT. The header is sector 1: "EFI PART", its length at 12, its CRC-32 at 16 (computed
 * with zero there), its own sector at 24, and of the entries: first sector at 72, number at 80,
 * length at 84, CRC-32 at 88. An entry: type, 16 bytes, zero if unused; at 32 the first and at 40
 * the last sector, of 64 bits. The last sector of the disk is a second header, with its own
 * entries.
 */
#include "drivers/partition.h"

#include "lib/string.h"

enum { SECTOR = 512 };
enum { MBR_ENTRIES = 446, MBR_ENTRY = 16, MBR_SIGNATURE = 510 };
enum { TYPE_UNUSED = 0, TYPE_EXTENDED = 5, TYPE_EXTENDED_LBA = 0xF, TYPE_EXTENDED_LINUX = 0x85 };
enum { TYPE_PROTECTIVE = 0xEE };
enum { FIRST_LOGICAL = 5, MAX_CHAIN = 64 };
enum { GPT_LENGTH = 12, GPT_CRC = 16, GPT_SELF = 24, GPT_ENTRIES = 72, GPT_NUMBER = 80 };
enum { GPT_ENTRY_LENGTH = 84, GPT_ENTRIES_CRC = 88, GPT_LENGTH_MIN = 92 };
enum { ENTRY_MIN = 128, ENTRY_FIRST = 32, ENTRY_LAST = 40, GPT_MAX_ENTRIES = 1024 };

static u32 get32(const u8 *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (u32)at[3] << 24;
}

static u64 get64(const u8 *at)
{
	return get32(at) | (u64)get32(at + 4) << 32;
}

static u32 crc32_step(u32 crc, const u8 *data, u32 n)
{
	for (; n--; data++) {
		crc ^= *data;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
	}
	return crc;
}

static bool overlaps(const struct partition_table *t, u64 start, u64 end)
{
	for (u32 i = 0; i < t->nr; i++)
		if (start < (u64)t->parts[i].start + t->parts[i].nr_sectors &&
		    t->parts[i].start < end)
			return true;
	return false;
}

/* Adds a partition. Returns false, with t->wrong set, if it is invalid. */
static bool add(struct partition_source *s, struct partition_table *t, u32 number, u64 start,
		u64 end)
{
	if (number > MAX_PARTITIONS)
		return true;
	if (!start || start >= end)
		t->wrong = "a partition without sectors, or with the table's own";
	else if (end > s->nr_sectors)
		t->wrong = "a partition goes beyond the end of the disk";
	else if (overlaps(t, start, end))
		t->wrong = "two partitions overlap";
	else
		t->parts[t->nr++] = (struct partition){ number, start, end - start };
	return !t->wrong;
}

static bool is_extended(u8 type)
{
	return type == TYPE_EXTENDED || type == TYPE_EXTENDED_LBA || type == TYPE_EXTENDED_LINUX;
}

/* Reads the n-th entry of a sector. Returns its type. */
static u8 mbr_entry(const u8 *sector, u32 n, u32 *start, u32 *nr)
{
	const u8 *entry = sector + MBR_ENTRIES + n * MBR_ENTRY;

	*start = get32(entry + 8);
	*nr = get32(entry + 12);
	return entry[4];
}

static bool is_mbr(const u8 *sector)
{
	return sector[MBR_SIGNATURE] == 0x55 && sector[MBR_SIGNATURE + 1] == 0xAA;
}

static void read_logical(struct partition_source *s, struct partition_table *t, u32 extended)
{
	u32 at = extended, start, nr, number = FIRST_LOGICAL;
	u8 sector[SECTOR];

	for (u32 n = 0; n < MAX_CHAIN; n++) {
		if (at >= s->nr_sectors || s->read(s, at, sector) || !is_mbr(sector)) {
			t->wrong = "the chain of logical partitions is broken";
			return;
		}
		if (mbr_entry(sector, 0, &start, &nr) != TYPE_UNUSED &&
		    !add(s, t, number++, (u64)at + start, (u64)at + start + nr))
			return;
		if (mbr_entry(sector, 1, &start, &nr) == TYPE_UNUSED)
			return;
		at = extended + start;
	}
	t->wrong = "the chain of logical partitions has no end";
}

static void read_mbr(struct partition_source *s, struct partition_table *t, const u8 *sector)
{
	u32 extended = 0, start, nr;

	for (u32 n = 0; n < 4; n++) {
		u8 type = mbr_entry(sector, n, &start, &nr);

		if (is_extended(type))
			extended = start;
		else if (type != TYPE_UNUSED && !add(s, t, n + 1, start, (u64)start + nr))
			return;
	}
	if (extended)
		read_logical(s, t, extended);
}

static u32 header_crc(const u8 *header)
{
	static const u8 zero[4];
	u32 crc = crc32_step(~0u, header, GPT_CRC);

	crc = crc32_step(crc, zero, sizeof(zero));
	return ~crc32_step(crc, header + GPT_CRC + 4, get32(header + GPT_LENGTH) - GPT_CRC - 4);
}

static const char *check_header(const u8 *header, u32 at)
{
	u32 length = get32(header + GPT_LENGTH), entry = get32(header + GPT_ENTRY_LENGTH);

	if (memcmp(header, "EFI PART", 8) || length < GPT_LENGTH_MIN || length > SECTOR)
		return "it is none";
	if (header_crc(header) != get32(header + GPT_CRC))
		return "its checksum is wrong";
	if (get64(header + GPT_SELF) != at)
		return "it belongs to another sector";
	if ((entry != ENTRY_MIN && entry != 2 * ENTRY_MIN && entry != 4 * ENTRY_MIN) ||
	    get32(header + GPT_NUMBER) > GPT_MAX_ENTRIES)
		return "its entries are of an unknown form";
	return NULL;
}

static bool is_zero(const u8 *at, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (at[i])
			return false;
	return true;
}

/* Adds the entries in one sector; the first of them has number first + 1. */
static void add_entries(struct partition_source *s, struct partition_table *t, const u8 *sector,
			u32 first, u32 length)
{
	for (u32 i = 0; i < SECTOR / length; i++) {
		const u8 *entry = sector + i * length;

		if (!is_zero(entry, 16) && !add(s, t, first + i + 1, get64(entry + ENTRY_FIRST),
						get64(entry + ENTRY_LAST) + 1))
			return;
	}
}

static void read_entries(struct partition_source *s, struct partition_table *t, const u8 *header)
{
	u32 number = get32(header + GPT_NUMBER), length = get32(header + GPT_ENTRY_LENGTH);
	u64 at = get64(header + GPT_ENTRIES);
	u32 crc = ~0u;
	u8 sector[SECTOR];

	for (u32 done = 0; done < number; done += SECTOR / length, at++) {
		u32 n = MIN(number - done, SECTOR / length);

		if (at >= s->nr_sectors || s->read(s, at, sector)) {
			t->wrong = "its entries cannot be read";
			return;
		}
		crc = crc32_step(crc, sector, n * length);
		memset(sector + n * length, 0, SECTOR - n * length);
		if (!t->wrong)
			add_entries(s, t, sector, done, length);
	}
	if (~crc != get32(header + GPT_ENTRIES_CRC))
		t->wrong = "the checksum of its entries is wrong";
}

/* Reads one of the two headers and its entries. */
static void read_gpt(struct partition_source *s, struct partition_table *t, u32 at)
{
	u8 header[SECTOR];

	t->nr = 0;
	t->wrong = s->read(s, at, header) ? "it cannot be read" : check_header(header, at);
	if (!t->wrong)
		read_entries(s, t, header);
}

static void read_either_gpt(struct partition_source *s, struct partition_table *t)
{
	const char *wrong;

	read_gpt(s, t, 1);
	wrong = t->wrong;
	if (wrong)
		read_gpt(s, t, s->nr_sectors - 1);
	if (!t->wrong)
		t->wrong = wrong;
	else
		t->nr = 0;
}

/* Other sectors, such as a file system's boot sector, end with 55 AA, too. */
static bool is_table(const u8 *sector)
{
	if (!is_mbr(sector))
		return false;
	for (u32 n = 0; n < 4; n++)
		if (sector[MBR_ENTRIES + n * MBR_ENTRY] & 0x7F)
			return false;
	return true;
}

void partition_table_read(struct partition_source *s, struct partition_table *t)
{
	u32 start, nr;
	u8 sector[SECTOR];

	t->nr = 0;
	t->wrong = NULL;
	if (!s->nr_sectors)
		return;
	if (s->read(s, 0, sector)) {
		t->wrong = "its first sector cannot be read";
		return;
	}
	if (!is_table(sector))
		return;
	for (u32 n = 0; n < 4; n++)
		if (mbr_entry(sector, n, &start, &nr) == TYPE_PROTECTIVE) {
			read_either_gpt(s, t);
			return;
		}
	read_mbr(s, t, sector);
	if (t->wrong)
		t->nr = 0;
}
