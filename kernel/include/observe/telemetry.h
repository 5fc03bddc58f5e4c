/*
 * Telemetry: one JSON object per line on the second serial port (docs/reference/telemetry.md).
 *
 * Every line has "seq" (0, 1, 2, ... without gaps), "t_us" (machine time) and "ev". The first is
 * "start" and names the schema version; the last is "end": a stream without it was cut off.
 * Task context only.
 */
#ifndef OBSERVE_TELEMETRY_H
#define OBSERVE_TELEMETRY_H

#include "types.h"

/* A record: begin, its members, end; nothing may sleep in between. kernel/observe/schema.h lists
 * all records and members. Begin is false when the telemetry is off. */
bool telemetry_begin(const char *ev);
void telemetry_end(void);

/* A member of the object that is open, or, without a name (NULL), an element of the list. Members
 * are parted by commas, and texts are escaped; a text that is NULL is left out. */
void telemetry_u64(const char *name, u64 value);
void telemetry_s64(const char *name, s64 value);
void telemetry_text(const char *name, const char *value);
#define telemetry_u32 telemetry_u64
#define telemetry_int telemetry_s64
/* '{' and '}', or '[' and ']', around members of their own. */
void telemetry_open(const char *name, char bracket);
void telemetry_close(char bracket);

bool telemetry_on(void);
/* Listens to the events that become lines. */
void telemetry_init(void);
/* The first line. */
void telemetry_start(void);
/* From the first record to the last; where none is written, to now. */
u64 telemetry_span_us(void);

/* observe/sample.c: samples from now on; takes one last sample. */
void sample_init(void);
void sample_now(void);

/* observe/pressure.c: what a verdict needs, every tenth of a second; takes it once more. */
void pressure_init(void);
void pressure_now(void);

/* observe/summary.c: keeps what each process cost when it ends. */
void summary_init(void);
/* The last sample has been taken: what the run costs is counted up to here. */
void summary_stop(void);
/* The table of a run, and the "end" of the telemetry. */
void summary_print(int status);

#endif
