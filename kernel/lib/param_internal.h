/* For the files that find parameters by name. */
#ifndef LIB_PARAM_INTERNAL_H
#define LIB_PARAM_INTERNAL_H

#include "lib/param.h"

/* param.c. Copies the parameter to *out. Returns false if there is none of this name. */
bool param_find(const char *name, struct param *out);
/* Sets the parameter. text NULL: the name stands without a value. Returns 0, -ENOENT for an unknown
 * name, or -EINVAL, and then err holds a message. */
int param_assign(const char *name, const char *text, char *err, size_t errsize);

#endif
