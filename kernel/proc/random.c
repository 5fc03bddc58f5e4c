/*
 * SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): a
 * counter in steps of the golden ratio, and a mixing function over it.
 */
#include "proc/random.h"
#include "lib/param.h"
#include "lib/string.h"

static u32 seed = 1;
static u64 counter;

PARAM_U32("seed", seed, 0, UINT32_MAX, NULL, "of getrandom and AT_RANDOM", AT_BOOT);

static u64 next(void)
{
	u64 z = counter += 0x9E3779B97F4A7C15ull;

	z += (u64)seed << 32 | seed;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return z ^ z >> 31;
}

void random_bytes(void *buf, size_t n)
{
	char *to = buf;

	while (n) {
		u64 v = next();
		size_t part = MIN(n, sizeof(v));

		memcpy(to, &v, part);
		to += part;
		n -= part;
	}
}
