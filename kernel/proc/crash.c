/*
 * Crashes the kernel deliberately, to see (and to test) the reaction: the panic with its backtrace,
 * the double-fault task that reports a stack overflow, the watchdog that reports a hang.
 *
 * A kernel thread does it, after everything else has started. Each way uses an address or a
 * condition that the compiler cannot evaluate; otherwise it would optimise the error away.
 */
#include "arch/irq.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "sched/task.h"

static volatile u32 zero;

static out_of_line u32 use_up_stack(volatile u32 *caller)
{
	volatile u32 frame[64];

	frame[0] = caller ? caller[0] + 1 : 0;
	return zero ? 0 : use_up_stack(frame) + frame[0];
}

static void crash_stack(void)
{
	use_up_stack(NULL);
}

static void crash_null(void)
{
	*(volatile u32 *)zero = 1;
}

static void crash_jump(void)
{
	((void (*)(void))zero)();
}

static void crash_assert(void)
{
	ASSERT(zero);
}

/* With interrupts off, only an NMI gets through. */
static void crash_hang(void)
{
	irq_disable();
	while (!zero)
		;
}

/* With interrupts on, the tick comes, but no task makes progress. */
static void crash_loop(void)
{
	while (!zero)
		;
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "stack", crash_stack },   { "null", crash_null }, { "jump", crash_jump },
	{ "assert", crash_assert }, { "hang", crash_hang }, { "loop", crash_loop },
};

static void (*way)(void);

static const char *choose(const char *text)
{
	for (u32 i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(text, ways[i].name)) {
			way = ways[i].run;
			return NULL;
		}
	return "no such way";
}

static void list(char *buf, size_t size)
{
	*buf = '\0';
	for (u32 i = 0; i < ARRAY_SIZE(ways); i++) {
		strlcat(buf, i ? "|" : "", size);
		strlcat(buf, ways[i].name, size);
	}
}

PARAM_ENUM("crash", choose, list, NULL, "break the kernel on purpose", AT_BOOT);

static void crash(void *arg)
{
	(void)arg;
	printk("crash: on purpose\n");
	way();
}

static void crash_init(void)
{
	if (way)
		kthread_create("crash", 0, crash, NULL);
}

AT_STAGE(parts, 50, crash_init);
