/* Parameters while the machine runs: /proc shows and sets them. */
#include "param_internal.h"

#include "errno.h"
#include "lib/printf.h"
#include "lib/string.h"

#define MAX_TEXT 256 /* of a value */

int param_set(const char *name, const char *text, char *err, size_t errsize)
{
	char value[MAX_TEXT];
	size_t len = strlcpy(value, text, sizeof(value));
	struct param p;

	if (len >= sizeof(value)) {
		snprintf(err, errsize, "%s: more than %d bytes", name, MAX_TEXT - 1);
		return -EINVAL;
	}
	if (len && value[len - 1] == '\n')
		value[len - 1] = '\0';
	if (param_find(name, &p) && p.at_boot) {
		snprintf(err, errsize, "%s: only the kernel's command line sets it", name);
		return -EROFS;
	}
	return param_assign(name, value, err, errsize);
}

int param_get(const char *name, char *buf, size_t size)
{
	struct param p;

	if (!param_find(name, &p))
		return -ENOENT;
	switch (p.type) {
	case PARAM_T_U32:
		return scnprintf(buf, size, "%u", *(u32 *)p.value);
	case PARAM_T_SIZE:
		return scnprintf(buf, size, "%llu", (unsigned long long)*(u64 *)p.value);
	case PARAM_T_BOOL:
		return scnprintf(buf, size, "%d", *(bool *)p.value);
	case PARAM_T_STR:
		return scnprintf(buf, size, "%s", (char *)p.value);
	default:
		if (size)
			buf[0] = '\0';
		if (size && p.show)
			p.show(buf, size);
		return strnlen(buf, size);
	}
}
