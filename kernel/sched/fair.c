/*
 * CFS, the completely fair scheduler (Linux 2.6.23 to 6.5; its document sched-design-CFS.rst).
 *
 * Problem: give each of n runnable tasks the share weight / total weight of the CPU over any time
 * longer than a few milliseconds, and keep the response time of mostly sleeping tasks short.
 *
 * Idea: an ideal CPU would run all tasks at once, and every task's vruntime, its CPU time divided
 * by its weight, would stay equal. A real CPU runs the task with the smallest vruntime, the
 * leftmost of a red-black tree. Each nice level is worth a factor 1.25 in weight, about 10 % of the
 * CPU between two tasks.
 *
 * A slice is the task's share of sched_latency, the time in which every task gets one turn. If that
 * makes turns shorter than sched_min_granularity, the latency grows instead.
 *
 * Joining the queue. The vruntime of a sleeper stands still; unchanged, it would give the task the
 * CPU until it has caught up. So it is raised to min_vruntime, less half a latency as credit: a
 * waking task usually runs first, but cannot save up credit. A new task starts one slice behind, so
 * that forking gains no time. min_vruntime follows the smallest vruntime and never decreases.
 *
 * A woken task preempts only if it is behind by more than sched_wakeup_granularity (in its own
 * weight). Otherwise two tasks that wake each other would switch at every message.
 *
 * Left out: groups, several CPUs, buddies, deadline and real-time classes, EEVDF.
 */
#include "fair.h"
#include "errno.h"

#define NICE_MIN (-20)

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

/* lab: vruntime */
/* Compares vruntimes by difference, which is correct even after an overflow. */
static bool before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/* ns * 1024 / weight, with the division replaced by a multiplication by 2^32 / weight. */
u64 fair_delta(u64 ns, u32 weight)
{
	if (weight == NICE_0_WEIGHT)
		return ns;
	if (ns >> 32)
		return ns * NICE_0_WEIGHT / weight;
	return ns * (UINT32_MAX / weight) >> 22;
}

u32 fair_slice(const struct fair_rq *rq, const struct sched_entity *se)
{
	u32 nr = rq->nr_running + !se->on_rq;
	u32 load = rq->load + (se->on_rq ? 0 : se->weight);
	u32 period = sched_latency_ns;

	if (nr > sched_latency_ns / sched_min_granularity_ns)
		period = nr * sched_min_granularity_ns;
	return (u64)period * se->weight / load;
}

static void update_min_vruntime(struct fair_rq *rq)
{
	u64 v;

	if (!rq->curr && !rq->leftmost)
		return;
	v = rq->curr ? rq->curr->vruntime : entity(rq->leftmost)->vruntime;
	if (rq->leftmost && before(entity(rq->leftmost)->vruntime, v))
		v = entity(rq->leftmost)->vruntime;
	if (before(rq->min_vruntime, v))
		rq->min_vruntime = v;
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
	update_min_vruntime(rq);
}

/* Among equal vruntimes, the earlier entity stays first. */
static void tree_insert(struct fair_rq *rq, struct sched_entity *se)
{
	struct rb_node **link = &rq->tree.rb_node, *parent = NULL;
	bool leftmost = true;

	while (*link) {
		parent = *link;
		if (before(se->vruntime, entity(parent)->vruntime)) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	if (leftmost)
		rq->leftmost = &se->node;
	rb_link_node(&se->node, parent, link);
	rb_insert_color(&se->node, &rq->tree);
}
/* lab: end */

static void tree_erase(struct fair_rq *rq, struct sched_entity *se)
{
	if (rq->leftmost == &se->node)
		rq->leftmost = rb_next(&se->node);
	rb_erase(&se->node, &rq->tree);
}

/* lab: enqueue */
static u64 place(const struct fair_rq *rq, const struct sched_entity *se, enum fair_start start)
{
	u64 v = rq->min_vruntime;

	if (start == FAIR_NEW)
		v += fair_delta(fair_slice(rq, se), se->weight);
	else
		v -= sched_latency_ns / 2;
	return before(v, se->vruntime) ? se->vruntime : v;
}

void fair_enqueue(struct fair_rq *rq, struct sched_entity *se, enum fair_start start)
{
	se->vruntime = place(rq, se, start);
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
	update_min_vruntime(rq);
}
/* lab: end */

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

/* lab: preempt */
void fair_yield(struct fair_rq *rq)
{
	struct rb_node *last = rb_last(&rq->tree);

	if (last && before(rq->curr->vruntime, entity(last)->vruntime))
		rq->curr->vruntime = entity(last)->vruntime;
}

bool fair_tick_preempts(const struct fair_rq *rq)
{
	const struct sched_entity *curr = rq->curr;
	u32 slice;
	u64 ran;

	if (!curr || !rq->leftmost)
		return false;
	slice = fair_slice(rq, curr);
	ran = curr->sum_exec - curr->slice_start;
	if (ran >= slice)
		return true;
	return ran >= sched_min_granularity_ns &&
	       before(entity(rq->leftmost)->vruntime + slice, curr->vruntime);
}

bool fair_wakeup_preempts(const struct fair_rq *rq, const struct sched_entity *se)
{
	u64 gran = fair_delta(sched_wakeup_granularity_ns, se->weight);

	return !rq->curr || before(se->vruntime + gran, rq->curr->vruntime);
}
/* lab: end */

void fair_reweight(struct fair_rq *rq, struct sched_entity *se, u32 weight)
{
	if (se->on_rq)
		rq->load += weight - se->weight;
	se->weight = weight;
}

/* lab: check */
int fair_check(const struct fair_rq *rq)
{
	u32 nr = 0, load = 0;
	struct rb_node *node, *next;

	if (rb_check(&rq->tree) < 0 || rb_first(&rq->tree) != rq->leftmost)
		return -EINVAL;
	for (node = rq->leftmost; node; node = next) {
		next = rb_next(node);
		if (next && before(entity(next)->vruntime, entity(node)->vruntime))
			return -EINVAL;
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
/* lab: end */
