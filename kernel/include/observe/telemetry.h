/*
 * Telemetry: one JSON object per line on the second serial port (docs/reference/telemetry.md).
 *
 * Every line has "seq" (0, 1, 2, ... without gaps), "t_us" (machine time) and "ev". The first is
 * "start" and names the schema version. The last is "end"; a stream without it was cut off. Task
 * context only.
 */
#ifndef OBSERVE_TELEMETRY_H
#define OBSERVE_TELEMETRY_H

#include "types.h"

/* A record: begin, its members, end. Do not sleep in between. kernel/observe/schema.h lists all
 * records and members. telemetry_begin returns false if telemetry is off. */
bool telemetry_begin(const char *ev);
void telemetry_end(void);

/* Writes a member of the open object or, if name is NULL, an element of the open list. Members are
 * separated by commas, and texts are escaped. A text that is NULL is omitted. */
void telemetry_u64(const char *name, u64 value);
void telemetry_s64(const char *name, s64 value);
void telemetry_text(const char *name, const char *value);
#define telemetry_u32 telemetry_u64
#define telemetry_int telemetry_s64
/* Open and close a nested object ('{' and '}') or list ('[' and ']'). */
void telemetry_open(const char *name, char bracket);
void telemetry_close(char bracket);

bool telemetry_on(void);
/* Time from the first record to the last, or to now if telemetry is off. */
u64 telemetry_span_us(void);

/* observe/sample.c: takes a sample. */
void sample_now(void);

#endif
