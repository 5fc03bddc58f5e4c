/* The random numbers for programs: SplitMix64. */
#include "lib/random.h"
#include "lib/mix64.h"
#include "lib/param.h"
#include "lib/string.h"

static u32 seed = 1;
static u64 counter;

PARAM_U32("seed", seed, 0, UINT32_MAX, NULL, "of getrandom and AT_RANDOM", AT_BOOT);

static u64 next(void)
{
	counter += MIX64_STEP;
	return mix64(counter + ((u64)seed << 32 | seed));
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
