/* What the parts of storm share. */
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
	BY_HAND = 1000, /* numbers from here on are no system calls */
};

/* A kind of call: its letters stand for its arguments (args.c); it is drawn as often as its weight says. */
struct kind {
	const char *name, *args;
	short number, weight;
};

extern const struct kind kinds[];
extern const unsigned nr_kinds;

/* One outcome of one kind: how often, and which call had it first. */
struct cell {
	uint32_t nr, first;
};

/* Shared by all; workers do nothing else to it than to count. */
struct board {
	struct cell cells[MAX_CALLS][NR_ERRORS]; /* by error, 0: success */
	struct {
		uint32_t next, check; /* the call after that in progress; its complement */
		int pid;
	} workers[MAX_WORKERS];
	uint8_t judged[MAX_JUDGED]; /* one more than the error; 0: not made */
	uint32_t nr_calls, nr_pages, nr_left_out, nr_restarts, nr_nudges, nr_kills, nr_clears;
};

extern struct board *board;
extern uint32_t seed, nr_workers;
extern int nr_dirs;
extern const char *dirs[MAX_DIRS];
extern char work[MAX_DIRS][64]; /* their folders that belong to the storm */

/* calls.c: what call @i is; draws go on with its arguments. */
const struct kind *draw_kind(uint32_t i);

/* Sets how often each kind is drawn: its own weight, unless @list, as "raw=60,mount=60", says another. */
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

/* place.c: the folders as every round finds them; afterwards nothing of the storm is left. */
void place_make(int dir);
void place_clear(void);
/* A worker's folder, descriptors and memory. @terminal: the descriptor to use as the console, or -1 to open it. */
void place_enter(int dir, int terminal);

/* raw.c: the device of a mounted file system. Begins each round with a sound image. */
void raw_prepare(void);
long raw_touch(void);

/* code.c: execute some pages of random code, those of call @i. */
long code_execute(uint32_t i);

/* sysctl.c */
long sysctl_write(uint32_t which);
void sysctl_keep(void);
void sysctl_restore(void);

/* control.c: what must not change while the storm goes on; false, and a line, when it has. */
void control_begin(void);
bool control_check(void);
/* Kill every process that is younger than this one; false when some do not end. */
bool control_clear(void);

/* keep.c */
void keep_parse(const char *list);
bool keep_has(uint32_t i);
bool keep_any(uint32_t first, uint32_t end);

/* worker.c: calls from the board's next on to @end; does not return. */
__attribute__((noreturn)) void work_through(unsigned worker, uint32_t end);

/* Without the C library's, which writes errno: where that lies may be gone. */
long system_call(uint32_t number, const uint32_t *a);

/* judge.c */
void judge(uint32_t nr);

/* report.c */
void report(void);

#endif
