/*
 * The simulator (tools/vmsim) in a web page: its core and every policy of kernel/mm/policy, the same files, compiled to
 * one WebAssembly module without a C library.
 *
 * 	step.c    the functions that the page calls: choose a policy, start, refer, end
 * 	beside.c  additional output: dirty bits, ghosts, the line where a policy stood
 *	trees.c   trees and bags of pages
 * 	lines.h   included before each policy: its calls of the core report their lines
 *	libc.c    memory and streams; include/ declares them
 *
 * One instance is one run of one policy. The simulator's output is the answer to a call, as lines of JSON
 * (tools/vmsim/report.c). A broken rule, a crash and an endless hook are traps; the output before them says what is
 * known.
 */
#ifndef STEP_H
#define STEP_H

#include "vmsim.h"

struct ghosts;

/* Begins an answer. Returns where its text will be. */
const char *step_begin(void);
/* Called when a policy is about to call the core from this line. */
void step_at(const char *file, u32 line);
/* Called when a policy has created a table of ghosts. */
void step_ghosts(const struct ghosts *ghosts);
/* Call when the reference is over. Prints {"dirty":[...],"ghosts":{...},"calls":[...],"line":[...]}
 * on a line. */
void beside_reference(void);
/* Call when the program refers to this page. */
void beside_seen(u32 vpage);
/* Returns the page that contains this address, or NULL. */
const struct page *beside_page(const void *address);
/* Returns the page's number in the program; pages of the file are negative: -1 is its page 0. */
long long beside_number(const struct page *page);

#endif
