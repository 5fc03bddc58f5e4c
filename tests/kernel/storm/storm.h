/* Shared by the parts of storm. */
#ifndef STORM_H
#define STORM_H

#include "lab.h"

enum {
	MAX_WORKERS = 16,
	MAX_DIRS = 2,
	NR_ARGS = 6,
	NR_ERRORS = 134,
	MAX_CALLS = 256,
	ARENA_PAGES = 96,
	ARENA = 0x20000000,
	SCRATCH = 64 << 10,
	MAX_JUDGED = 20000,
	CONSOLE_FD = 30,
	BY_HAND = 1000, /* numbers from here on are not system calls */
};

/* A kind of call: its letters stand for its arguments (args.c); its weight is its frequency. */
struct kind {
	const char *name, *args;
	short number, weight;
};

extern const struct kind kinds[];
extern const unsigned nr_kinds;

/* A result of a kind of call: how often it occurred, and the first call with it. */
struct cell {
	uint32_t nr, first;
};

/* Shared by all processes; workers only count in it. */
struct board {
	struct cell cells[MAX_CALLS][NR_ERRORS]; /* by error, 0: success */
	struct {
		uint32_t next, check; /* the call after the one in progress; its complement */
		int pid;
	} workers[MAX_WORKERS];
	uint8_t judged[MAX_JUDGED]; /* the error plus 1; 0: not made */
	uint32_t nr_calls, nr_pages, nr_left_out, nr_restarts, nr_nudges, nr_kills, nr_clears;
};

extern struct board *board;
extern uint32_t seed, nr_workers;
extern int nr_dirs;
extern const char *dirs[MAX_DIRS];
extern char work[MAX_DIRS][64]; /* the folders of the storm */

/* calls.c: determines call @i; the same random numbers continue with its arguments. */
const struct kind *draw_kind(uint32_t i);

/* Sets the frequency of each kind: its own weight, unless @list, such as "raw=60,mount=60", gives another. */
void calls_weigh(const char *list);
bool calls_have(const char *name); /* can this kind be drawn? */

/* args.c */
extern char scratch[SCRATCH];
extern int last_child;
extern uint32_t last_segments[4], last_attached[4];
uint32_t draw(uint32_t below);
uint32_t draw_word(void);
void draw_begin(uint32_t i);
void draw_args(const struct kind *kind, uint32_t *args);
void args_prepare(int dir);

/* place.c: the initial folders of every round; place_clear() removes everything of the storm. */
void place_make(int dir);
void place_clear(void);
/*
 * Sets up a worker's folder, descriptors and memory. @terminal: the descriptor to use as the console, or -1 to open it.
 */
void place_enter(int dir, int terminal);

/* raw.c: the device of a mounted file system. Begins each round with an undamaged image. */
void raw_prepare(void);
long raw_touch(void);

/* code.c: executes some pages of random code, those of call @i. */
long code_execute(uint32_t i);

/* sysctl.c */
long sysctl_write(uint32_t which);
void sysctl_keep(void);
void sysctl_restore(void);

/* control.c: checks what must not change during the storm; returns false with a message if it has changed. */
void control_begin(void);
bool control_check(void);
/* Kills every process that is younger than this one. Returns false if some do not end. */
bool control_clear(void);

/* keep.c */
void keep_parse(const char *list);
bool keep_has(uint32_t i);
bool keep_any(uint32_t first, uint32_t end);

/* worker.c: makes the calls from the board's next to @end; does not return. */
__attribute__((noreturn)) void work_through(unsigned worker, uint32_t end);

/* Instead of the C library's, which writes errno: errno's memory may be lost. */
long system_call(uint32_t number, const uint32_t *a);

/* judge.c */
void judge(uint32_t nr);

/* report.c */
void report(void);

#endif
