/* The damped averages of memory pressure; the theory is in psi.h. */
#include "psi.h"

void psi_average_update(struct psi_average *a, u64 total_ns, u64 elapsed_ns, u32 periods)
{
	static const u32 decay[3] = { 1677, 1981, 2034 }; /* PSI_FIXED_1 / e^(2 s / window) */
	u64 grown = MIN(total_ns - a->last_ns, elapsed_ns);
	u32 share = (grown >> 10) * 100 * PSI_FIXED_1 / ((elapsed_ns >> 10) + 1);

	a->last_ns = total_ns;
	for (periods = MIN(periods, PSI_MAX_MISSED); periods; periods--)
		for (int i = 0; i < 3; i++) {
			u32 round = share >= a->avg[i] ? PSI_FIXED_1 - 1 : 0;

			a->avg[i] =
				(a->avg[i] * decay[i] + share * (PSI_FIXED_1 - decay[i]) + round) >>
				PSI_FSHIFT;
		}
}
