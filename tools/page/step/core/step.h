/*
 * The simulator (tools/vmsim) in a web page: its core and every policy of kernel/mm/policy, the very same files, as one
 * module of WebAssembly without a C library.
 *
 *	step.c    what the page calls: choose a policy, start, refer, end
 *	beside.c  what the page shows besides the simulator's own lines: dirty bits, ghosts, where a policy stood
 *	trees.c   trees and bags of pages
 *	lines.h   put before each policy: its calls of the core say from which line they come
 *	libc.c    memory and streams; include/ declares them
 *
 * One instance is one run of one policy. What the simulator prints is the answer to a call, as lines of JSON
 * (tools/vmsim/report.c). A broken rule, a crash and a hook without an end are traps; before them stands what is known.
 */
#ifndef STEP_H
#define STEP_H

#include "vmsim.h"

struct ghosts;

/* An answer begins; where its text will be. */
const char *step_begin(void);
/* A policy is about to call the core from here. */
void step_at(const char *file, u32 line);
/* It has a table of ghosts. */
void step_ghosts(const struct ghosts *ghosts);
/* The reference is over: {"dirty":[...],"ghosts":{...},"calls":[...],"line":[...]} on a line. */
void beside_reference(void);
/* The program refers to this page. */
void beside_seen(u32 vpage);
/* The page that this address lies in, NULL: in none. */
const struct page *beside_page(const void *address);
/* Its number in the program; pages of the file: -1 is its page 0. */
long long beside_number(const struct page *page);

#endif
