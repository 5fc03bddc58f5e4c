/*
 * For the tests of lib/string.c and lib/printf.c: gives the kernel's functions a prefix, so that
 * they do not clash with the C library's, and includes the kernel's headers. Include it after the C
 * library's headers and before any kernel header.
 */
#ifndef HOST_RENAME_H
#define HOST_RENAME_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define memcpy k_memcpy
#define memset k_memset
#define memmove k_memmove
#define memcmp k_memcmp
#define memchr k_memchr
#define strlen k_strlen
#define strnlen k_strnlen
#define strcmp k_strcmp
#define strncmp k_strncmp
#define strlcpy k_strlcpy
#define strlcat k_strlcat
#define strchr k_strchr
#define strrchr k_strrchr
#define strstr k_strstr
#define strtoull k_strtoull
#define vsnprintf k_vsnprintf
#define snprintf k_snprintf

#include "../../../../kernel/include/arch/string.h"
#include "../../../../kernel/include/lib/string.h"
#include "../../../../kernel/include/lib/printf.h"

#endif
