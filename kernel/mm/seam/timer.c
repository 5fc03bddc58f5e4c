/* The hook timer (mm/hook_timer.h): what happens when hooks nest, are slow or never return. */
#include "mm/hook_timer.h"

#include "lib/printf.h"
#include "mm/rules.h"

struct hook_timer policy_timer = { .kind = "policy" }, guard_timer = { .kind = "guard" };

void hook_is_nested(const struct hook_timer *t, const char *hook)
{
	rule_fatal(t, "nested", hook, "hook %s called inside hook %s", hook, t->running);
}

void hook_may_be_slow(struct hook_timer *t, u64 cycles)
{
	const char *hook = t->running;
	u64 ns = cycles_to_ns(cycles);

	t->running = NULL; /* from here another policy may take over */
	if (ns > HOOK_LIMIT_NS && t->nr_ticks >= HOOK_LIMIT_TICKS)
		rule_broken(t, "time", hook, NULL, "hook %s took %llu us, the limit is %u", hook,
			    (unsigned long long)ns / 1000, HOOK_LIMIT_NS / 1000);
}

void hook_hangs(const struct hook_timer *t)
{
	rule_fatal(t, "time", t->running, "hook %s has not returned for %u ms", t->running,
		   HOOK_HUNG_NS / 1000000);
}

static void watch(struct hook_timer *t)
{
	t->nr_ticks += t->running != NULL;
	if (t->running && t->nr_ticks >= HOOK_HUNG_TICKS &&
	    cycles_to_ns(cycles_now() - t->since) > HOOK_HUNG_NS)
		hook_hangs(t);
}

void hook_watch(void)
{
	watch(&guard_timer);
	watch(&policy_timer);
}

static void report(const struct hook_timer *t)
{
	if (t->running)
		printk("%s: %s, in its hook %s\n", t->kind, rules_name(t), t->running);
}

void hook_report(void)
{
	report(&guard_timer);
	report(&policy_timer);
}
