/*
 * The instruction CPUID (Intel, volume 2A): a leaf number in eax, answers in four registers. Leaf 0
 * has the vendor, leaf 1 family, model and features, and the leaves from 0x80000002 on the name.
 */
#include "arch/cpuid.h"

#include "lib/string.h"

#define LEAF_EXTENDED 0x80000000u
#define LEAF_NAME 0x80000002u /* and the two after it */
#define LEAF_ADDRESSES 0x80000008u

struct leaf {
	u32 a, b, c, d;
};

/* Bits 0 to 31 of edx, and of ecx, of leaf 1. */
static const char *const names[NR_CPU_FEATURES] = {
	"fpu",        "vme",     "de",
	"pse",        "tsc",     "msr",
	"pae",        "mce",     "cx8",
	"apic",       NULL,      "sep",
	"mtrr",       "pge",     "mca",
	"cmov",       "pat",     "pse36",
	"pn",         "clflush", NULL,
	"dts",        "acpi",    "mmx",
	"fxsr",       "sse",     "sse2",
	"ss",         "ht",      "tm",
	"ia64",       "pbe",     "pni",
	"pclmulqdq",  "dtes64",  "monitor",
	"ds_cpl",     "vmx",     "smx",
	"est",        "tm2",     "ssse3",
	"cid",        "sdbg",    "fma",
	"cx16",       "xtpr",    "pdcm",
	NULL,         "pcid",    "dca",
	"sse4_1",     "sse4_2",  "x2apic",
	"movbe",      "popcnt",  "tsc_deadline_timer",
	"aes",        "xsave",   "osxsave",
	"avx",        "f16c",    "rdrand",
	"hypervisor",
};

static struct leaf read_leaf(u32 number)
{
	struct leaf l;

	__asm__("cpuid" : "=a"(l.a), "=b"(l.b), "=c"(l.c), "=d"(l.d) : "a"(number), "c"(0));
	return l;
}

static void read_name(struct cpu_identity *id, u32 max_extended)
{
	strlcpy(id->model_name, "unknown", sizeof(id->model_name));
	for (u32 i = 0; i < 3 && LEAF_NAME + 2 <= max_extended; i++) {
		struct leaf l = read_leaf(LEAF_NAME + i);

		memcpy(id->model_name + i * sizeof(l), &l, sizeof(l));
	}
	id->model_name[sizeof(id->model_name) - 1] = '\0';
}

void cpu_identify(struct cpu_identity *id)
{
	struct leaf zero = read_leaf(0), one = read_leaf(1);
	u32 max_extended = read_leaf(LEAF_EXTENDED).a, family = one.a >> 8 & 15;

	memcpy(id->vendor, &zero.b, 4);
	memcpy(id->vendor + 4, &zero.d, 4);
	memcpy(id->vendor + 8, &zero.c, 4);
	id->vendor[12] = '\0';
	id->max_leaf = zero.a;
	id->family = family == 15 ? family + (one.a >> 20 & 255) : family;
	id->model = (one.a >> 4 & 15) | (family == 6 || family == 15 ? one.a >> 12 & 0xf0 : 0);
	id->stepping = one.a & 15;
	id->address_bits = max_extended >= LEAF_ADDRESSES ? read_leaf(LEAF_ADDRESSES).a & 255 : 36;
	read_name(id, max_extended);
}

const char *cpu_feature_name(u32 i)
{
	struct leaf one = read_leaf(1);

	return (i < 32 ? one.d >> i : one.c >> (i - 32)) & 1 ? names[i] : NULL;
}
