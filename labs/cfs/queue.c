/*
 * The student's run queue, as a program: answers the calls that the driver (driver.c) sends, until the
 * driver has ended. The student's code can only answer calls, not print results.
 */
#include "queue.h"

static u64 perform(struct call call)
{
	size_t size;
	static struct queue *q;
	struct sched_entity *se;

	if (!q)
		q = map_memory(&size);
	se = &q->se[call.a % MAX_ENTITIES];
	switch (call.what) {
	case CHARGE:
		return fair_charge(&q->rq, call.a), 0;
	case ENQUEUE:
		return fair_enqueue(&q->rq, se, call.b), 0;
	case SLEEP:
		return fair_sleep(&q->rq), 0;
	case PICK:
		return (uintptr_t)fair_pick(&q->rq, call.a);
	case YIELD:
		return fair_yield(&q->rq), 0;
	case TICK:
		return fair_tick_preempts(&q->rq);
	case WAKEUP:
		return fair_wakeup_preempts(&q->rq, se);
	case REWEIGHT:
		return fair_reweight(&q->rq, se, call.b), 0;
	case SLICE:
		return fair_slice(&q->rq, se);
	case DELTA:
		return fair_delta(call.a, call.b);
	}
	return fair_check(&q->rq);
}

int main(void)
{
	sched_latency_ns = 6000000;
	sched_min_granularity_ns = 750000;
	sched_wakeup_granularity_ns = 1000000;
	answer_calls(perform);
	return 0;
}
