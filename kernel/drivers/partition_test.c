#include "partition.c"
#include "lib/ktap.h"

#define NR_SECTORS 2048u

static u8 image[NR_SECTORS][SECTOR];
static struct partition_table table;
static u32 bad_sector; /* unreadable; 0: none */

static int read_image(struct partition_source *s, u32 sector, u8 *to)
{
	(void)s;
	if (bad_sector && sector == bad_sector)
		return -5;
	memcpy(to, image[sector], SECTOR);
	return 0;
}

static void read_table(u32 nr_sectors)
{
	struct partition_source source = { nr_sectors, read_image };

	partition_table_read(&source, &table);
}

static void put32(u8 *at, u32 v)
{
	for (u32 i = 0; i < 4; i++)
		at[i] = v >> 8 * i;
}

static void mark(u32 sector)
{
	image[sector][MBR_SIGNATURE] = 0x55;
	image[sector][MBR_SIGNATURE + 1] = 0xAA;
}

static void put_mbr(u32 sector, u32 n, u8 type, u32 start, u32 nr)
{
	u8 *entry = image[sector] + MBR_ENTRIES + n * MBR_ENTRY;

	entry[4] = type;
	put32(entry + 8, start);
	put32(entry + 12, nr);
	mark(sector);
}

static void clear(void)
{
	memset(image, 0, sizeof(image));
	bad_sector = 0;
}

static void expect_part(u32 i, u32 number, u32 start, u32 nr)
{
	EXPECT(i < table.nr);
	EXPECT_EQ(table.parts[i].number, number);
	EXPECT_EQ(table.parts[i].start, start);
	EXPECT_EQ(table.parts[i].nr_sectors, nr);
}

KTEST(partition, a_disk_without_a_table_has_none)
{
	clear();
	read_table(NR_SECTORS);
	EXPECT(!table.nr && !table.wrong);
	mark(0);
	image[0][MBR_ENTRIES] = 0x33; /* boot sector code */
	read_table(NR_SECTORS);
	EXPECT(!table.nr && !table.wrong);
	read_table(0);
	EXPECT(!table.nr && !table.wrong);
}

KTEST(partition, primary_and_logical)
{
	clear();
	put_mbr(0, 0, 0x83, 16, 100);
	put_mbr(0, 2, 0x82, 200, 50);
	put_mbr(0, 3, TYPE_EXTENDED_LBA, 300, 700);
	put_mbr(300, 0, 0x83, 8, 92);
	put_mbr(300, 1, TYPE_EXTENDED, 200, 100); /* relative to 300: 500 */
	put_mbr(500, 0, 0x83, 8, 60);
	read_table(NR_SECTORS);
	EXPECT(!table.wrong);
	EXPECT_EQ(table.nr, 4);
	expect_part(0, 1, 16, 100);
	expect_part(1, 3, 200, 50);
	expect_part(2, 5, 308, 92);
	expect_part(3, 6, 508, 60);
}

static void expect_wrong(const char *why)
{
	read_table(NR_SECTORS);
	EXPECT_EQ(table.nr, 0);
	EXPECT(table.wrong && strstr(table.wrong, why));
}

KTEST(partition, bad_tables_are_ignored)
{
	clear();
	put_mbr(0, 0, 0x83, 16, 100);
	put_mbr(0, 1, 0x83, 116, NR_SECTORS - 115);
	expect_wrong("beyond the end");
	put_mbr(0, 1, 0x83, 115, 10);
	expect_wrong("overlap");
	put_mbr(0, 1, 0x83, 0, 10);
	expect_wrong("without sectors");
	put_mbr(0, 1, 0x83, 200, 0);
	expect_wrong("without sectors");
	put_mbr(0, 1, 0x83, UINT32_MAX, UINT32_MAX);
	expect_wrong("beyond the end");
}

KTEST(partition, bad_chains_are_ignored)
{
	clear();
	put_mbr(0, 0, TYPE_EXTENDED, 300, 700);
	expect_wrong("broken");
	put_mbr(300, 1, TYPE_EXTENDED, 0, 100); /* itself */
	expect_wrong("no end");
	put_mbr(300, 1, TYPE_EXTENDED, NR_SECTORS, 100);
	expect_wrong("broken");
	bad_sector = 300;
	expect_wrong("broken");
}

/* Writes a header at `at` with 128 entries that begin at `entries` and must already exist. */
static void put_gpt(u32 at, u32 entries)
{
	u8 *h = image[at];

	memcpy(h, "EFI PART", 8);
	put32(h + GPT_LENGTH, GPT_LENGTH_MIN);
	put32(h + GPT_SELF, at);
	put32(h + GPT_ENTRIES, entries);
	put32(h + GPT_NUMBER, 128);
	put32(h + GPT_ENTRY_LENGTH, ENTRY_MIN);
	put32(h + GPT_ENTRIES_CRC, ~crc32_step(~0u, image[entries], 128 * ENTRY_MIN));
	put32(h + GPT_CRC, header_crc(h));
}

static void put_entry(u32 entries, u32 n, u32 first, u32 last)
{
	u8 *entry = image[entries] + n * ENTRY_MIN;

	memset(entry, 0xE5, 16);
	put32(entry + ENTRY_FIRST, first);
	put32(entry + ENTRY_LAST, last);
}

static void put_both(u32 last)
{
	clear();
	put_mbr(0, 0, TYPE_PROTECTIVE, 1, NR_SECTORS - 1);
	for (u32 copy = 0; copy < 2; copy++) {
		u32 entries = copy ? NR_SECTORS - 33 : 2;

		put_entry(entries, 0, 40, 139);
		put_entry(entries, 5, 200, last);
		put_gpt(copy ? NR_SECTORS - 1 : 1, entries);
	}
}

KTEST(partition, crc_is_the_usual_one)
{
	EXPECT_EQ(~crc32_step(~0u, (const u8 *)"123456789", 9), 0xCBF43926u);
}

KTEST(partition, gpt)
{
	put_both(299);
	read_table(NR_SECTORS);
	EXPECT(!table.wrong);
	EXPECT_EQ(table.nr, 2);
	expect_part(0, 1, 40, 100);
	expect_part(1, 6, 200, 100);
}

static void expect_copy(const char *why)
{
	read_table(NR_SECTORS);
	EXPECT(table.wrong && strstr(table.wrong, why));
	EXPECT_EQ(table.nr, 2);
	expect_part(1, 6, 200, 100);
}

KTEST(partition, the_second_header_stands_in_for_the_first)
{
	put_both(299);
	image[1][0] = 'X';
	expect_copy("none");
	put_both(299);
	image[1][GPT_ENTRIES] ^= 1;
	expect_copy("checksum");
	put_both(299);
	image[3][7] ^= 1;
	expect_copy("checksum of its entries");
	put_both(299);
	bad_sector = 1;
	expect_copy("read");
	put_both(299);
	bad_sector = 3;
	expect_copy("its entries cannot be read");
	put_both(299);
	memcpy(image[1], image[NR_SECTORS - 1], SECTOR);
	expect_copy("another sector");
}

KTEST(partition, two_bad_headers_are_ignored)
{
	put_both(299);
	image[1][0] = image[NR_SECTORS - 1][0] = 'X';
	expect_wrong("none");
	put_both(NR_SECTORS);
	expect_wrong("beyond the end");
}

KTEST(partition, random_bytes_are_survived)
{
	u32 rnd = ktap_seed_noted();

	for (u32 round = 0; round < 300; round++) {
		if (round % 2)
			put_both(299);
		else
			clear();
		mark(0);
		for (u32 i = 0; i < 20; i++)
			image[ktap_random(&rnd) % 4][ktap_random(&rnd) % SECTOR] =
				ktap_random(&rnd);
		read_table(NR_SECTORS);
		for (u32 i = 0; i < table.nr; i++)
			EXPECT(table.parts[i].start + (u64)table.parts[i].nr_sectors <= NR_SECTORS);
	}
}
