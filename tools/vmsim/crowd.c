/*
 * Several processes, for scripts. They take turns: each uses its pages once, in order, and then computes for the
 * rest of the turn. Faults take no time. A process that sleeps or is held has no turn. The pages of a process are
 * those of a leaf of the page table, so that no two processes share one.
 */
#include "vmsim.h"

#include <stdlib.h>

#define TURN_MS 20
#define PER_MS 1000000
#define MAX_PROCESSES 8

static struct mm_struct others[MAX_PROCESSES - 1];

static struct mm_struct *numbered(u32 number)
{
	if (!number || number > MAX_PROCESSES)
		exit(EXIT_USAGE);
	return number == 1 ? &sim_mm : &others[number - 2];
}

static bool is_there(const struct mm_struct *wanted)
{
	for_each_mm(mm)
		if (mm == wanted)
			return true;
	return false;
}

struct mm_struct *crowd_process(u32 number)
{
	struct mm_struct **last = &sim_oldest, *made = numbered(number);

	if (is_there(made))
		return made;
	while (*last)
		last = &(*last)->next;
	*last = made;
	policy_call_mm_init(made);
	return made;
}

void crowd_switch(struct mm_struct *mm)
{
	if (sim_current)
		sim_current->ran_ns = mm_vtime(sim_current);
	sim_current = mm;
	sim_since_ns = sim_now_ns;
}

void crowd_uses(struct mm_struct *mm, u32 nr)
{
	mm->nr_used = MIN(nr, LEAF_SIZE);
	mm->demand = MAX(mm->demand, mm->nr_used);
}

static u32 first_page(const struct mm_struct *mm)
{
	u32 number = mm == &sim_mm ? 1 : mm - others + 2;

	return number << LEAF_SHIFT;
}

static void take_turn(struct mm_struct *mm)
{
	crowd_switch(mm);
	for (u32 i = 0; i < mm->nr_used && !mm->held; i++)
		process_run(first_page(mm) + i, 1, 0, 0);
	for (u32 ms = 0; ms < TURN_MS && !mm->held; ms++)
		process_wait(PER_MS);
}

u32 crowd_run(u32 ms)
{
	u64 until = sim_now_ns + ms * (u64)PER_MS;
	struct mm_struct *chosen = sim_current;
	u32 before = counts.stops;

	while (sim_now_ns < until) {
		u64 began = sim_now_ns;

		for_each_mm(mm)
			if (!mm->asleep && !mm->held && sim_now_ns < until)
				take_turn(mm);
		crowd_switch(NULL);
		if (sim_now_ns == began)
			process_wait(PER_MS);
	}
	crowd_switch(chosen);
	return counts.stops - before;
}

void crowd_end(u32 number)
{
	struct mm_struct **link = &sim_oldest, *mm = crowd_process(number);

	if (sim_current == mm)
		crowd_switch(NULL);
	memory_forget_leaf(number);
	if (mm->resident)
		exit(EXIT_USAGE); /* pages that it does not use itself */
	policy_call_mm_exit(mm);
	while (*link != mm)
		link = &(*link)->next;
	*link = mm->next;
}

u32 crowd_lost(void)
{
	u32 sum = 0;

	for_each_mm(mm)
		sum += mm->stopped ? 0 : mm->lost;
	return sum;
}
