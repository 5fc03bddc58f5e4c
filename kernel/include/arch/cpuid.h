/* What the processor says about itself. */
#ifndef ARCH_CPUID_H
#define ARCH_CPUID_H

#include "types.h"

struct cpu_identity {
	char vendor[13], model_name[49]; /* NUL-terminated */
	u32 max_leaf, family, model, stepping;
	u32 address_bits; /* of a physical address */
};

void cpu_identify(struct cpu_identity *id);
/* Returns the name of a feature of the processor, as in Linux's /proc/cpuinfo; i counts from 0. NULL:
 * the processor does not have feature i, or it has no name. */
const char *cpu_feature_name(u32 i);
#define NR_CPU_FEATURES 64u

#endif
