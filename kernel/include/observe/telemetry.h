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
/* Listens to the events that become lines. */
void telemetry_init(void);
/* t has a new address space, in which nothing ran. QEMU's plugin (tools/plugin) knows it by this
 * name. */
void telemetry_mm(struct task_struct *t);
/* The first line. */
void telemetry_start(void);

/* observe/sample.c: starts the sampling thread; takes one last sample. */
void sample_init(void);
void sample_now(void);

/* observe/summary.c: keeps what each process cost when it ends. */
void summary_init(void);
/* Init starts now: what the run costs is counted from here. */
void summary_start(void);
/* The table of a run, and the "end" of the telemetry. */
void summary_print(int status);

#endif
