/*
 * Tests for every guard, including one that is just a file in this folder: random use of the guard
 * interface over fifo, with parameters at their defaults and at both ends of their ranges.
 *
 * A guard breaks no rule, does not stop all processes forever, and keeps no reference to a process
 * that has ended: its memory is freed, so the sanitizer would find the reference.
 */
#include "../policy/fifo.c"
#include "host/fake_core.h"
#include "lib/string.h"
#include <stdlib.h>

enum { NR_FRAMES = 24, MAX_MMS = 6, NR_SLOTS = 4 * NR_FRAMES, NR_OPS = 20000, MINUTE = 60 };

#define SECOND 1000000000ull

static u32 seed;
static u64 idle_now, nobody_since; /* ns; time since when no process may run */

static u32 below(u32 n)
{
	return ktap_random(&seed) % n;
}

static struct mm_struct *some_mm(void)
{
	return core_mm(below(core_nr_mm()));
}

/* Functions that the fake core lacks. */

u32 mm_demand(struct mm_struct *mm)
{
	return mm_rss(mm) + NR_FRAMES / 2;
}

u32 mm_touched(struct mm_struct *mm)
{
	return mm_rss(mm);
}

u32 mm_pid(struct mm_struct *mm)
{
	return 1 + mm->vtime_ns / SECOND; /* if the process has ended, the sanitizer stops here */
}

u64 vm_idle(void)
{
	return idle_now;
}

u32 vm_free(u32 times)
{
	return below(40 * (times + 1));
}

struct mm_struct *vm_queued(bool last)
{
	return below(4) ? core_mm(last ? core_nr_mm() - 1 : 0) : NULL;
}

bool vm_prefetch(struct page_id id)
{
	EXPECT(id.store);
	return below(3);
}

/* Makes no room: op_evict does that later, as kswapd would. */
void vm_make_room(u32 nr)
{
	EXPECT(nr);
}

void vm_prepage_some(struct mm_struct *mm, u32 nr)
{
	(void)mm, (void)nr;
}

static struct page_id some_slot(void)
{
	return (struct page_id){ 1, 1 + below(NR_SLOTS) };
}

static void op_evict(void)
{
	struct vm_scan scan = policy_scan(ZONES_ALL, below(13));
	struct page *page = core_select(&scan);

	if (page && below(4))
		core_evicted(page, some_slot());
	else if (page)
		core_putback(page, VM_PUT_USED);
}

static void op_fault(void)
{
	struct page *page = &mem_map[below(NR_FRAMES)];

	guard_call_fault(some_mm());
	if (page_test(page, PG_owned))
		page_set(page, below(2) ? PG_young : PG_dirty);
	else
		core_insert(page, below(8) ? some_mm() : NULL, VM_IN_FAULT, some_slot());
}

static void end_process(struct mm_struct *mm, struct mm_struct *heir)
{
	guard_call_mm_exit(mm);
	core_mm_end(mm, heir);
}

static void op_process(void)
{
	if (core_nr_mm() == 1 || (core_nr_mm() < MAX_MMS && below(2)))
		core_mm_new();
	else
		end_process(some_mm(), NULL);
}

/* Time passes, sometimes a second, in which the machine may have been idle. */
static void op_time(void)
{
	u64 passed = below(8) ? below(100) * 1000000ull : SECOND;
	bool idle, anybody = false;

	core_now_ns += passed;
	idle_now += below(2) ? passed : 0;
	some_mm()->vtime_ns += passed / 2;
	guard_call_ticks(core_now_ns, &idle);
	for (struct mm_struct *mm = core_mm(0); mm; mm = vm_next_mm(mm))
		anybody |= guard_call_may_run(mm);
	if (anybody)
		nobody_since = core_now_ns;
	EXPECT(core_now_ns - nobody_since < MINUTE * SECOND);
}

static void show(void)
{
	static char text[4096];
	struct seq_file m;

	seq_init(&m, text, sizeof(text));
	guard_call_show(&m);
	EXPECT(!m.overflow && (!m.count || text[m.count - 1] == '\n'));
}

static void random_op(void)
{
	switch (below(16)) {
	case 0 ... 5:
		op_fault();
		break;
	case 6 ... 9:
		op_evict();
		break;
	case 10 ... 11:
		op_time();
		break;
	case 12:
		guard_call_pressure(below(2));
		break;
	case 13:
		guard_call_forget(some_slot());
		break;
	case 14:
		op_process();
		break;
	default:
		show();
	}
}

/* A guard is switched on once, at boot, and has no hook for being switched off. */
static void begin(u32 guard)
{
	static u32 nr_on;

	core_start(&fifo, NR_FRAMES);
	guard_require_hooks(guard_at(guard));
	vm_guards[0] = guard_at(guard);
	vm_nr_guards = 1;
	if (guard == nr_on && ++nr_on && vm_guards[0]->init)
		EXPECT_EQ(vm_guards[0]->init(), 0);
	nobody_since = core_now_ns;
	core_mm_new();
}

static void end(void)
{
	while (core_mm(0))
		end_process(core_mm(0), NULL);
	vm_nr_guards = 0;
	core_stop();
}

static void random_ops(u32 guard, u32 n)
{
	begin(guard);
	for (u32 i = 0; i < n && !core_nr_errors; i++)
		random_op();
	if (core_nr_errors)
		ktap_note("guard %s", guard_at(guard)->name);
	end();
}

KTEST(guards, keep_the_rules_under_random_use)
{
	seed = ktap_seed_noted();
	for (u32 i = 0; guard_at(i); i++)
		random_ops(i, NR_OPS);
}

KTEST(guards, keep_the_rules_at_the_ends_of_their_parameters)
{
	seed = ktap_seed_noted();
	for (u32 i = 0; guard_at(i); i++) {
		const struct vm_param *params = guard_at(i)->params;
		u32 before[16];

		for (u32 k = 0; params && params[k].name; k++) {
			before[k] = *params[k].value;
			*params[k].value = params[k].min;
		}
		random_ops(i, NR_OPS / 4);
		for (u32 k = 0; params && params[k].name; k++)
			*params[k].value = params[k].max;
		random_ops(i, NR_OPS / 4);
		for (u32 k = 0; params && params[k].name; k++)
			*params[k].value = before[k];
	}
}

/* The maximum number of guards, of which some have been switched off. */
KTEST(guards, hooks_are_called_in_every_place_that_has_one)
{
	begin(0);
	vm_nr_guards = MAX_GUARDS;
	for (u32 i = 0; i < MAX_GUARDS; i++)
		vm_guards[i] = guard_at(0);
	show();
	EXPECT_EQ(vm_guard_asked, MAX_GUARDS - 1);
	vm_guards[MAX_GUARDS - 1] = NULL;
	show();
	EXPECT_EQ(vm_guard_asked, MAX_GUARDS - 2);
	vm_nr_guards = 1; /* places beyond vm_nr_guards are not called */
	vm_guards[0] = NULL;
	show();
	EXPECT_EQ(vm_guard_asked, MAX_GUARDS - 2);
	end();
}

KTEST(guards, say_what_they_are_each_in_words_of_its_own)
{
	for (u32 i = 0; guard_at(i); i++) {
		const struct vm_param *p = guard_at(i)->params;

		EXPECT(guard_at(i)->summary && *guard_at(i)->summary);
		for (u32 k = 0; k < i; k++) {
			EXPECT(strcmp(guard_at(i)->name, guard_at(k)->name));
			EXPECT(strcmp(guard_at(i)->summary, guard_at(k)->summary));
		}
		for (; p && p->name; p++)
			EXPECT(p->help && *p->help && p->min <= *p->value && *p->value <= p->max);
	}
}

/* The number of processes that begin and end; PROCESSES=n in the environment sets it. */
static u32 nr_processes(void)
{
	const char *n = getenv("PROCESSES");

	return n ? strtoul(n, NULL, 0) : 20000;
}

KTEST(guards, keep_nothing_of_processes_that_have_ended)
{
	seed = ktap_seed_noted();
	for (u32 i = 0; guard_at(i); i++) {
		begin(i);
		for (u32 n = nr_processes(); n; n--) {
			struct mm_struct *before = core_mm(0);

			core_mm_new();
			op_fault();
			guard_call_pressure(true);
			if (n % 64 == 0)
				for (int k = 0; k < 8; k++)
					op_time();
			end_process(before, NULL);
		}
		end();
	}
}
