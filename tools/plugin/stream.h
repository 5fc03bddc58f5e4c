/* The stream of references that mode=trace writes: interface of stream.c. */
#ifndef STREAM_H
#define STREAM_H

#include "plugin.h"

enum {
	TAG_BEGIN,
	TAG_CODE,
	TAG_FETCHES,
	TAG_TAIL,
	TAG_SPACE,
	TAG_BIRTH,
	TAG_DEATH,
	TAG_END,
	TAG_SPACES,
	TAG_OF,
	TAG_CAME,
	TAG_LOCKED,
	TAG_FROM,
	TAG_FREED,
	TAG_STORE,
	TAG_FILE
};
/* Of TAG_FILE: */
enum { FILE_INDEX, FILE_PAGE, FILE_NONE, FILE_READ, FILE_WRITE, FILE_CAME, FILE_GONE };
#define NEW (1u << 24) /* of TAG_CAME */
#define HOW_SHIFT 20 /* of TAG_CAME and TAG_FILE */
#define VPN ((1u << HOW_SHIFT) - 1)

#pragma GCC visibility push(hidden)

/* Creates the file and writes BEGIN. counters[0] counts the instructions begun. */
void stream_open(const char *name);
/* Writes the fetches so far. Call it before a word that changes their page or address space. */
void stream_settle(void);
void stream_put(uint32_t tag, uint32_t value);
/* Writes a load or store, with the fetches before it. @page: an address. */
void stream_access(uint32_t page, bool stores);
/* Call when the instruction about to be counted reaches into this page. */
void stream_tail(uint32_t page);
/* Writes the fetches so far and END, and closes the file. */
void stream_close(void);

#pragma GCC visibility pop

#endif
