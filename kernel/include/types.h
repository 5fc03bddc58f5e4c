/* Fixed-size integer types, and the few macros that every file needs. */
#ifndef TYPES_H
#define TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define ALIGN_UP(x, a) (((x) + (a) - 1) & ~((a) - 1))
#define ALIGN_DOWN(x, a) ((x) & ~((a) - 1))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
#define STATIC_ASSERT(cond) _Static_assert(cond, #cond)
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
/* For rare or large paths: the hot caller then saves no registers for them. Any other reason stands at its function. */
#define out_of_line __attribute__((noinline))
#define __noreturn __attribute__((noreturn))
#define __printf(fmt, args) __attribute__((format(printf, fmt, args)))
#define barrier() __asm__ volatile("" ::: "memory")

#endif
