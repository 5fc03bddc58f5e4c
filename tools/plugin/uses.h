/* The first use of each frame by programs after a moment: uses.c, for mode=events. */
#ifndef USES_H
#define USES_H

#include "plugin.h"

/* Called for the first use: page is the number of the page in the program's address space, 0 if read(2) or
 * write(2) uses the frame; begun: see clock.h. */
extern void (*uses_found)(uint32_t frame, uint32_t page, int begun);

/* The option note_io=: address of the kernel's cache_note_io. */
bool uses_option(const char *name, const char *value);

/* Call before other callbacks of a block are registered. */
void uses_watch(struct qemu_plugin_tb *tb);
/* From now on uses are reported. pages: address of the first struct page. */
void uses_begin(uint32_t pages);
/* The frame gets another page: its next use is a first one. */
void uses_forget(uint32_t frame);

#endif
