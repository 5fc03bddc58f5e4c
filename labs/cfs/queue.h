/* What the driver of the run queue and the program that holds the student's run queue share. */
#ifndef QUEUE_H
#define QUEUE_H

#include "../../kernel/sched/fair.h"
#include "../../tests/host/driven/driven.h"

enum {
	MAX_ENTITIES = 64,
	NONE = -1,
	STRANGE = -2 /* a pointer to something else than an entity */
};

/* The shared memory. */
struct queue {
	struct fair_rq rq;
	struct sched_entity se[MAX_ENTITIES];
};

/* The calls: a function of fair.h each, for the queue in the shared memory. a is an entity's number, a
 * time in ns, or for SLICE and DELTA their first argument; b is the second argument. */
enum { CHARGE, ENQUEUE, SLEEP, PICK, YIELD, TICK, WAKEUP, REWEIGHT, SLICE, DELTA, CHECK };

#endif
