/* The telemetry stream; what it looks like is in observe/telemetry.h. */
#include "observe/telemetry.h"

#include "arch/machine.h"
#include "arch/time.h"
#include "drivers/serial.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "main.h"
#include "mm/guard_core.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/zone.h"
#include "observe/events.h"
#include "proc/task.h"

static bool enabled = true;
static u32 seq;

PARAM_BOOL("telemetry", enabled, "write telemetry to the second serial port");

bool telemetry_on(void)
{
	return enabled && telemetry_present();
}

static void add_va(const char *fmt, va_list args)
{
	char piece[320];
	int n = vsnprintf(piece, sizeof(piece), fmt, args);

	telemetry_write(piece, MIN((size_t)n, sizeof(piece) - 1));
}

void telemetry_add(const char *fmt, ...)
{
	va_list args;

	if (!telemetry_on())
		return;
	va_start(args, fmt);
	add_va(fmt, args);
	va_end(args);
}

void telemetry_begin(const char *ev)
{
	telemetry_add("{\"seq\":%u,\"t_us\":%llu,\"ev\":\"%s\"", seq++, clock_ns() / 1000, ev);
}

void telemetry_end(void)
{
	telemetry_add("}\n");
}

void telemetry_event(const char *ev, const char *fmt, ...)
{
	va_list args;

	if (!telemetry_on())
		return;
	telemetry_begin(ev);
	if (*fmt) {
		telemetry_add(",");
		va_start(args, fmt);
		add_va(fmt, args);
		va_end(args);
	}
	telemetry_end();
}

static void violation(const struct violation *v)
{
	telemetry_event("violation", "\"%s\":\"%s\",\"rule\":\"%s\",\"what\":\"%s\"", v->kind,
			v->name, v->rule, v->what);
}

static void policy_switched(const char *name)
{
	telemetry_event("policy", "\"name\":\"%s\"", name);
}

static void oom(struct task_struct *t)
{
	const struct mm_counters *c = &t->mm->count;

	telemetry_event("oom", "\"pid\":%d,\"comm\":\"%s\",\"rss\":%u,\"swapents\":%u,\"ptes\":%u",
			t->pid, t->comm, mm_rss_pages(t->mm), c->swapents, c->ptes);
}

void telemetry_mm(struct task_struct *t)
{
	telemetry_event("mm", "\"pid\":%d,\"comm\":\"%s\",\"cr3\":%u", t->pid, t->comm,
			virt_to_phys(t->mm->pgd));
}

/* A JSON string may not hold quotes, backslashes or control characters as they are. */
static void add_string(const char *s)
{
	telemetry_add("\"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			telemetry_add("\\%c", *s);
		else if (*s >= ' ')
			telemetry_add("%c", *s);
	}
	telemetry_add("\"");
}

void telemetry_init(void)
{
	listen_violation(violation);
	listen_policy_switch(policy_switched);
	listen_oom(oom);
	listen_new_mm(telemetry_mm);
}

void telemetry_start(void)
{
	telemetry_begin("start");
	telemetry_add(",\"schema\":%u,\"kernel\":\"tidemark\",\"policy\":\"%s\","
		      "\"guard\":\"%s\",\"cmdline\":",
		      TELEMETRY_SCHEMA, vm_policy->name, guard_name());
	add_string(boot_info.cmdline);
	telemetry_add(",\"page_size\":%u,\"managed\":%u,\"free\":%u,\"frames\":%u,\"zones\":[",
		      PAGE_SIZE, nr_managed_pages(), nr_free_pages(), frames_cap);
	for (int i = 0; i < MAX_ZONES; i++) {
		struct zone *z = &zones[i];

		telemetry_add(
			"%s{\"name\":\"%s\",\"managed\":%u,\"min\":%u,\"low\":%u,\"high\":%u}",
			i ? "," : "", z->name, z->managed, z->watermark[WMARK_MIN],
			z->watermark[WMARK_LOW], z->watermark[WMARK_HIGH]);
	}
	telemetry_add("]");
	telemetry_end();
}
