/* The telemetry stream; its format is in observe/telemetry.h. */
#include "observe/telemetry.h"

#include "arch/machine.h"
#include "arch/time.h"
#include "drivers/serial.h"
#include "lib/jitter.h"
#include "lib/param.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/control.h"
#include "mm/frames.h"
#include "mm/guard_core.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/zone.h"
#include "observe/events.h"
#include "sched/current.h"
#include "sched/still.h"
#include "schema.h"

static bool enabled = true;
static u32 seq;
static u64 first_us, last_us; /* when the first and last record began */
static char line[512]; /* text not yet written */
static size_t used;
#define NAME_ROOM 64u
static bool first; /* no comma before the next member */

PARAM_BOOL("telemetry", enabled, "write telemetry to the second serial port");

bool telemetry_on(void)
{
	return enabled && telemetry_present();
}

static void flush(void)
{
	telemetry_write(line, used);
	used = 0;
}

static void put(const char *s, size_t n)
{
	if (used + n > sizeof(line))
		flush();
	memcpy(line + used, s, n);
	used += n;
}

static void put_char(char c)
{
	if (used == sizeof(line))
		flush();
	line[used++] = c;
}

/* Writes the comma before a member, and its name, shorter than NAME_ROOM - 4; NULL: an element of a list. */
static void put_name(const char *name)
{
	char *at;

	if (used + NAME_ROOM > sizeof(line))
		flush();
	at = line + used;
	if (!first)
		*at++ = ',';
	first = false;
	if (name) {
		*at++ = '"';
		while (*name)
			*at++ = *name++;
		*at++ = '"';
		*at++ = ':';
	}
	used = at - line;
}

void telemetry_u64(const char *name, u64 value)
{
	char digits[20], *at = digits + sizeof(digits);
	u32 low;

	/* 64-bit division is a library call: switch to 32 bits as soon as possible. */
	for (; value >> 32; value /= 10)
		*--at = '0' + value % 10;
	low = value;
	do
		*--at = '0' + low % 10;
	while (low /= 10);
	put_name(name);
	put(at, digits + sizeof(digits) - at);
}

/* Up to a million, of constant width and without a branch: records that an exact run writes in
 * machine time then cost the same, whatever their number. */
static void telemetry_padded(const char *name, u32 value)
{
	char digits[6];

	if (value > 999999) {
		telemetry_u64(name, value);
		return;
	}
	digits[5] = '0' + value % 10;
	for (u32 i = 5; i--;) {
		value /= 10;
		digits[i] = ' ' + ((0 - value) >> 31) * ('0' - ' ') + value % 10;
	}
	put_name(name);
	put(digits, sizeof(digits));
}

void telemetry_s64(const char *name, s64 value)
{
	if (value >= 0) {
		telemetry_u64(name, value);
		return;
	}
	put_name(name);
	put_char('-');
	first = true;
	telemetry_u64(NULL, -(u64)value);
}

/* Escapes quotes, backslashes and control characters, as JSON requires. */
void telemetry_text(const char *name, const char *value)
{
	if (!value)
		return;
	put_name(name);
	put_char('"');
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			put_char('\\');
		if (*value >= ' ')
			put_char(*value);
	}
	put_char('"');
}

void telemetry_open(const char *name, char bracket)
{
	put_name(name);
	put_char(bracket);
	first = true;
}

void telemetry_close(char bracket)
{
	put_char(bracket);
	first = false;
}

bool telemetry_begin(const char *ev)
{
	if (!telemetry_on())
		return false;
	last_us = clock_ns() / 1000;
	if (!seq)
		first_us = last_us;
	first = true;
	telemetry_open(NULL, '{');
	RECORD_ANY(EMIT);
	return true;
}

u64 telemetry_span_us(void)
{
	return (telemetry_on() ? last_us : clock_ns() / 1000) - first_us;
}

void telemetry_end(void)
{
	put("}\n", 2);
	flush();
}

/* Returns the name of the policy or guard if the violation is of this kind, else NULL. */
static const char *culprit(const struct violation *v, const char *kind)
{
	return strcmp(v->kind, kind) ? NULL : v->name;
}

static void violation(const struct violation *v)
{
	if (!telemetry_begin("violation"))
		return;
	RECORD_VIOLATION(EMIT);
	telemetry_end();
}

static void policy_switched(const char *name)
{
	if (!telemetry_begin("policy"))
		return;
	RECORD_POLICY(EMIT);
	telemetry_end();
}

static void oom(struct task_struct *t)
{
	const struct mm_counters *c = &t->mm->count;

	if (!telemetry_begin("oom"))
		return;
	RECORD_OOM(EMIT);
	telemetry_end();
}

/* tools/plugin/trace.c finds this function by name: the address space begins here. */
static void telemetry_mm(struct task_struct *t)
{
	if (!telemetry_begin("mm"))
		return;
	RECORD_MM(EMIT);
	telemetry_end();
}

static void send_zones(void)
{
	telemetry_open("zones", '[');
	for (struct zone *z = zones; z < zones + MAX_ZONES; z++) {
		telemetry_open(NULL, '{');
		PART_ZONES(EMIT);
		telemetry_close('}');
	}
	telemetry_close(']');
}

static void telemetry_init(void)
{
	listen_violation(violation);
	listen_policy_switch(policy_switched);
	listen_oom(oom);
	listen_new_mm(telemetry_mm);
}

AT_STAGE(first, 10, telemetry_init);

static void write_start(void)
{
	if (!telemetry_begin("start"))
		return;
	RECORD_START(EMIT);
	telemetry_end();
}

static void telemetry_start(void)
{
	still(write_start);
}

AT_STAGE(parts, 10, telemetry_start);
