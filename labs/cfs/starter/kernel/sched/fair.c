/*
 * Round robin. Make it CFS, the completely fair scheduler.
 *
 * Problem: give each of n runnable tasks the share weight / total weight of the CPU over any time
 * longer than a few milliseconds, and keep the response time of mostly sleeping tasks short.
 *
 * The code here works, but ignores weights. The queue is the red-black tree of struct fair_rq used
 * as a list: a task that becomes runnable goes to the right end, and the leftmost runs next, for at
 * most SLICE_NS. A nice value has no effect, and a woken task waits for all others.
 *
 * What to build. An ideal CPU would run all tasks at once, and every task's vruntime, its CPU time
 * times NICE_0_WEIGHT / weight, would stay equal. A real CPU runs the task with the smallest
 * vruntime.
 *
 *	fair_delta	CPU time as vruntime
 *	tree_insert	by vruntime; among equal vruntimes the earlier entity stays first. Compare
 *			vruntimes by their difference, (s64)(a - b) < 0, because they may overflow
 *	fair_charge	also min_vruntime: the smallest vruntime of all runnable tasks, curr
 *			included; it never decreases, and stays the same while there is none
 *	fair_slice	the task's share (weight / load) of sched_latency_ns; with too many tasks
 *			for that, its share of nr_running * sched_min_granularity_ns. A task that
 *			is not on the queue is counted as if it were
 *	fair_enqueue	a woken task starts at min_vruntime less half a latency, a new one at
 *			min_vruntime plus its slice as vruntime; but never before its own vruntime
 *	fair_yield	curr moves behind the last task of the tree
 *	fair_tick_preempts	when the slice is used up; or, once the task has run for
 *			sched_min_granularity_ns, when it is ahead of the leftmost by more than
 *			its slice
 *	fair_wakeup_preempts	when the woken task is behind curr by more than
 *			sched_wakeup_granularity_ns (as vruntime, by its own weight)
 *	fair_check	also the order of the tree, and its balance (rb_check)
 *
 * The CPU cannot divide 64 by 64 bits: a / b calls a function, which takes time.
 */
#include "fair.h"
#include "errno.h"

#define NICE_MIN (-20)
#define SLICE_NS 20000000u

u32 sched_latency_ns = 6000000;
u32 sched_min_granularity_ns = 750000;
u32 sched_wakeup_granularity_ns = 1000000;

/* sched_prio_to_weight: 1024 * 1.25^-nice. */
static const u32 prio_to_weight[40] = {
	88761, 71755, 56483, 46273, 36291, /* -20 */
	29154, 23254, 18705, 14949, 11916, /* -15 */
	9548,  7620,  6100,  4904,  3906,  /* -10 */
	3121,  2501,  1991,  1586,  1277,  /*  -5 */
	1024,  820,   655,   526,   423,   /*   0 */
	335,   272,   215,   172,   137,   /*   5 */
	110,   87,    70,    56,    45,    /*  10 */
	36,    29,    23,    18,    15,    /*  15 */
};

static struct sched_entity *entity(struct rb_node *node)
{
	return rb_entry(node, struct sched_entity, node);
}

u32 fair_weight(int nice)
{
	return prio_to_weight[nice - NICE_MIN];
}

u64 fair_delta(u64 ns, u32 weight)
{
	(void)weight;
	return ns;
}

u32 fair_slice(const struct fair_rq *rq, const struct sched_entity *se)
{
	(void)rq;
	(void)se;
	return SLICE_NS;
}

void fair_charge(struct fair_rq *rq, u64 now_ns)
{
	struct sched_entity *se = rq->curr;
	u64 delta;

	if (!se)
		return;
	delta = now_ns - se->exec_start;
	se->exec_start = now_ns;
	se->sum_exec += delta;
	se->vruntime += fair_delta(delta, se->weight);
}

/* Inserts at the right end. */
static void tree_insert(struct fair_rq *rq, struct sched_entity *se)
{
	struct rb_node *last = rb_last(&rq->tree);

	rb_link_node(&se->node, last, last ? &last->rb_right : &rq->tree.rb_node);
	rb_insert_color(&se->node, &rq->tree);
	if (!last)
		rq->leftmost = &se->node;
}

static void tree_erase(struct fair_rq *rq, struct sched_entity *se)
{
	if (rq->leftmost == &se->node)
		rq->leftmost = rb_next(&se->node);
	rb_erase(&se->node, &rq->tree);
}

void fair_enqueue(struct fair_rq *rq, struct sched_entity *se, enum fair_start start)
{
	(void)start;
	se->on_rq = true;
	rq->nr_running++;
	rq->load += se->weight;
	tree_insert(rq, se);
}

void fair_sleep(struct fair_rq *rq)
{
	rq->curr->on_rq = false;
	rq->nr_running--;
	rq->load -= rq->curr->weight;
	rq->curr = NULL;
}

struct sched_entity *fair_pick(struct fair_rq *rq, u64 now_ns)
{
	struct sched_entity *se;

	if (!rq->leftmost) {
		if (rq->curr)
			rq->curr->slice_start = rq->curr->sum_exec;
		return rq->curr;
	}
	if (rq->curr)
		tree_insert(rq, rq->curr);
	se = entity(rq->leftmost);
	tree_erase(rq, se);
	se->exec_start = now_ns;
	se->slice_start = se->sum_exec;
	rq->curr = se;
	return se;
}

void fair_yield(struct fair_rq *rq)
{
	(void)rq; /* fair_pick puts curr at the end */
}

bool fair_tick_preempts(const struct fair_rq *rq)
{
	const struct sched_entity *curr = rq->curr;

	return curr && rq->leftmost && curr->sum_exec - curr->slice_start >= fair_slice(rq, curr);
}

bool fair_wakeup_preempts(const struct fair_rq *rq, const struct sched_entity *se)
{
	(void)se;
	return !rq->curr;
}

void fair_reweight(struct fair_rq *rq, struct sched_entity *se, u32 weight)
{
	if (se->on_rq)
		rq->load += weight - se->weight;
	se->weight = weight;
}

int fair_check(const struct fair_rq *rq)
{
	u32 nr = 0, load = 0;
	struct rb_node *node;

	for (node = rq->leftmost; node; node = rb_next(node)) {
		if (!entity(node)->on_rq || entity(node) == rq->curr)
			return -EINVAL;
		nr++;
		load += entity(node)->weight;
	}
	if (rq->curr) {
		nr++;
		load += rq->curr->weight;
	}
	return nr == rq->nr_running && load == rq->load ? 0 : -EINVAL;
}
