/* Options that several modes have: numbers, and lists of addresses. */
#include "plugin.h"

#include <stdlib.h>
#include <string.h>

bool number_option(const struct number *numbers, size_t nr, const char *name, const char *value)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(name, numbers[i].name)) {
			*numbers[i].to = strtoull(value, NULL, 0);
			return true;
		}
	return false;
}

bool pcs_option(struct pcs *pcs, const char *value)
{
	for (; pcs->nr < MAX_PCS; value++) {
		char *end;

		pcs->at[pcs->nr++] = strtoull(value, &end, 0);
		value = end;
		if (*value != ':')
			return !*value;
	}
	return false;
}

bool is_among(const struct pcs *pcs, uint64_t pc)
{
	for (size_t i = 0; i < pcs->nr; i++)
		if (pcs->at[i] == pc)
			return true;
	return false;
}
