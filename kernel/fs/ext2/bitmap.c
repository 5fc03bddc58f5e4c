/* Bits of a block: bit n is bit n % 8 of byte n / 8, and thus bit n % 32 of word n / 32. */
#include "ext2.h"

bool ext2_bit(const void *map, u32 bit)
{
	return ((const u8 *)map)[bit / 8] >> bit % 8 & 1;
}

void ext2_bits_set(void *map, u32 from, u32 count)
{
	for (u32 bit = from; bit < from + count; bit++)
		((u8 *)map)[bit / 8] |= 1u << bit % 8;
}

u32 ext2_bits_find(const void *map, u32 from, u32 end)
{
	const u32 *words = map;
	u32 before = (1u << from % 32) - 1; /* ignored bits of the first word */

	for (u32 i = from / 32; i * 32 < end; i++, before = 0) {
		u32 zeros = ~(words[i] | before);

		if (zeros)
			return MIN(i * 32 + __builtin_ctz(zeros), end);
	}
	return end;
}

u32 ext2_bits_find_run(const void *map, u32 from, u32 end, u32 count)
{
	const u8 *bytes = map;

	for (u32 bit = ALIGN_UP(from, count); bit + count <= end; bit += count) {
		u32 n = 0;

		while (n < count / 8 && !bytes[bit / 8 + n])
			n++;
		if (n == count / 8)
			return bit;
	}
	return end;
}
