/*
 * Targeted damage to an ext2 image. A mutation selects a place (a field of the superblock, of a
 * descriptor, of an inode in use, or of a directory entry; an address in an indirect block; a bitmap;
 * any byte) and writes a value that is likely to do harm: the end of a range, one beyond it, a block or
 * inode that is in use elsewhere, noise. Or it copies one block over another.
 */
#include "hostile.h"

#define MAX_USED 64u

enum { SUPER = 1024, GROUP = 32, SLOTS = 40, NR_SLOTS = 15, FIRST_INDIRECT = 12 };

static uint32_t state;

/* The superblock's values before any change, and the inodes in use. */
static struct image {
	uint8_t *at;
	uint32_t size, block_size, blocks, inodes, first, per_group, inodes_per_group, inode_size,
		groups;
	uint32_t used[MAX_USED], nr_used;
} img;

void random_start(uint32_t seed)
{
	state = seed * 2654435761u + 12345;
	for (int i = 0; i < 4; i++)
		below(1);
}

/* Marsaglia's xorshift. */
uint32_t below(uint32_t n)
{
	state = state ? state : 1;
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return n ? (state >> 3) % n : 0;
}

static uint32_t get(uint32_t at, uint32_t width)
{
	uint32_t value = 0;

	if (at <= img.size - width)
		memcpy(&value, img.at + at, width);
	return value;
}

static uint32_t block_at(uint32_t block)
{
	return block < img.size / img.block_size ? block * img.block_size : 0;
}

static uint32_t descriptor(uint32_t group)
{
	return (img.first + 1) * img.block_size + group * GROUP;
}

/* Returns where an inode lies; 0: an earlier mutation has moved it outside the image. */
static uint32_t inode_at(uint32_t ino)
{
	uint32_t table = block_at(get(descriptor((ino - 1) / img.inodes_per_group) + 8, 4));
	uint32_t at = table + (ino - 1) % img.inodes_per_group * img.inode_size;

	return table && at <= img.size - img.inode_size ? at : 0;
}

void understand(uint8_t *image, uint32_t size)
{
	img = (struct image){ .at = image, .size = size };
	img.inodes = get(SUPER, 4);
	img.blocks = get(SUPER + 4, 4);
	img.first = get(SUPER + 20, 4);
	img.block_size = 1024u << get(SUPER + 24, 4);
	img.per_group = get(SUPER + 32, 4);
	img.inodes_per_group = get(SUPER + 40, 4);
	img.inode_size = get(SUPER + 76, 4) ? get(SUPER + 88, 2) : 128;
	img.groups = (img.blocks - img.first - 1) / img.per_group + 1;
	for (uint32_t ino = 1; ino <= img.inodes && img.nr_used < MAX_USED; ino++)
		if (get(inode_at(ino), 2))
			img.used[img.nr_used++] = ino;
}

static uint32_t used_inode(void)
{
	return img.used[below(img.nr_used)];
}

/* Returns a block of any file, including its indirect blocks. */
static uint32_t used_block(void)
{
	return get(inode_at(used_inode()) + SLOTS + 4 * below(NR_SLOTS), 4);
}

static uint32_t hurtful(uint32_t old)
{
	const uint32_t values[] = {
		0,
		1,
		2,
		0xffffffff,
		0x7fffffff,
		0x80000000,
		0xffff,
		0x8000,
		0x7fff,
		img.blocks,
		img.blocks - 1,
		img.blocks + 1,
		img.inodes,
		img.inodes + 1,
		img.size,
		img.block_size,
		img.per_group,
		img.first + 1,
		old + 1,
		old - 1,
		old << 1,
		old ^ 1u << below(32),
		below(img.blocks),
		below(img.inodes + 1),
		used_inode(),
		used_block(),
		used_block(),
		get(descriptor(below(img.groups)) + 4 * below(3), 4),
		below(256),
		below(65536),
		below(0x1fffffff) * 16u + below(16),
		get(below(img.size), 4),
	};

	return values[below(ARRAY_SIZE(values))];
}

static void put(uint32_t at, uint32_t width)
{
	uint32_t value = hurtful(get(at, width));

	if (at && at <= img.size - width)
		memcpy(img.at + at, &value, width);
}

static void put_field(uint32_t at, uint32_t length)
{
	static const uint8_t widths[] = { 4, 4, 4, 2, 2, 1 };
	uint32_t width = widths[below(ARRAY_SIZE(widths))];

	put(at + below(length / width) * width, width);
}

static void in_super(void)
{
	put_field(SUPER, below(3) ? 108 : 1024);
}

static void in_descriptor(void)
{
	put_field(descriptor(below(img.groups)), GROUP);
}

static void in_bitmap(void)
{
	uint32_t at = block_at(get(descriptor(below(img.groups)) + 4 * below(2), 4));

	for (uint32_t n = 1 + below(64), byte = below(img.block_size); n && byte < img.block_size;
	     n--, byte++)
		img.at[at + byte] = below(3) ? below(2) * 255 : below(256);
}

static void in_inode(void)
{
	put_field(inode_at(used_inode()), below(2) ? SLOTS : 128);
}

static void in_slot(void)
{
	put(inode_at(used_inode()) + SLOTS + 4 * below(NR_SLOTS), 4);
}

/* Returns a directory's block, or zero. */
static uint32_t directory(void)
{
	for (int tries = 0; tries < 40; tries++) {
		uint32_t at = inode_at(used_inode());

		if (get(at, 2) >> 12 == 4)
			return block_at(get(at + SLOTS + 4 * below(2), 4));
	}
	return 0;
}

static void in_entry(void)
{
	static const struct {
		uint8_t at, width;
	} fields[] = { { 0, 4 }, { 4, 2 }, { 6, 1 }, { 7, 1 }, { 6, 2 }, { 8, 1 }, { 8, 4 } };
	uint32_t at = directory(), end = at + img.block_size, which = below(12),
		 i = below(ARRAY_SIZE(fields));

	for (; at && which; which--) {
		uint32_t length = get(at + 4, 2);

		if (length < 8 || at + length >= end)
			break;
		at += length;
	}
	if (at)
		put(at + fields[i].at, fields[i].width);
}

/* Changes an indirect block, or one that it refers to. */
static void in_addresses(void)
{
	for (int tries = 0; tries < 40; tries++) {
		uint32_t slot = FIRST_INDIRECT + below(3);
		uint32_t at = block_at(get(inode_at(used_inode()) + SLOTS + 4 * slot, 4));

		for (uint32_t level = below(slot - FIRST_INDIRECT + 1); at && level; level--)
			at = block_at(get(at + 4 * below(2), 4));
		if (at) {
			put(at + 4 * (below(2) ? below(4) : below(img.block_size / 4)), 4);
			return;
		}
	}
}

static void copy_block(void)
{
	uint32_t from = block_at(below(2) ? used_block() : below(img.blocks));
	uint32_t to = block_at(below(2) ? used_block() : below(img.blocks));

	if (to > SUPER)
		memmove(img.at + to, img.at + from, img.block_size);
}

static void copy_inode(void)
{
	uint32_t from = inode_at(used_inode()), to = inode_at(used_inode());

	if (from && to)
		memmove(img.at + to, img.at + from, 128);
}

static void anywhere(void)
{
	put_field(below(img.size - 4), 4);
}

void mutate(uint8_t *image)
{
	static void (*const ways[])(void) = {
		in_descriptor, in_bitmap,  in_bitmap,  in_inode, in_inode, in_inode,
		in_slot,       in_slot,    in_entry,   in_entry, in_entry, in_addresses,
		in_addresses,  copy_block, copy_inode, anywhere, anywhere,
	};
	bool super = below(5) == 0;

	img.at = image;
	for (uint32_t n = 1 + below(below(4) ? 4 : 24); n; n--)
		ways[below(ARRAY_SIZE(ways))]();
	for (uint32_t n = super ? 1 + below(2) : 0; n; n--)
		in_super();
}
