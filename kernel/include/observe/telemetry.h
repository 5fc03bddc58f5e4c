/*
 * Telemetry: one JSON object per line on the second serial port (docs/telemetry.md).
 *
 * Every line has "seq" (0, 1, 2, ... without gaps), "t_us" (machine time) and "ev". The first is
 * "start" and names the schema version; the last is "end": a stream without it was cut off.
 * Task context only.
 */
#ifndef OBSERVE_TELEMETRY_H
#define OBSERVE_TELEMETRY_H

#include "types.h"

#define TELEMETRY_SCHEMA 1

struct task_struct;

/* One whole event; fmt makes the members after "ev", without a leading comma; "" for none. */
void telemetry_event(const char *ev, const char *fmt, ...) __printf(2, 3);

/* A longer one in pieces: nothing may sleep in between. */
void telemetry_begin(const char *ev);
void telemetry_add(const char *fmt, ...) __printf(1, 2);
void telemetry_end(void);

bool telemetry_on(void);
void telemetry_start(void);
/* From the first event to the last; where none is written, to now. */
u64 telemetry_span_us(void);

/* t has a new address space, in which no instruction has been executed in user mode yet. */
void telemetry_mm(const struct task_struct *t);

/* observe/sample.c: starts the sampling thread; takes one last sample. */
void sample_init(void);
void sample_now(void);

/* observe/summary.c: a process ends; its counters are still whole. */
void acct_exit(struct task_struct *t);
/* The last sample has been taken: what the run costs is counted up to here. */
void summary_stop(void);
/* The table of a run, and the "end" of the telemetry. */
void summary_print(int status);

#endif
