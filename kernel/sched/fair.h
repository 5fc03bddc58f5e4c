/*
 * The CFS run queue by itself: who is next, for how long, at what price. Pure: no tasks, no clock,
 * no interrupts, so that it is tested on the host. Callers hold interrupts off.
 */
#ifndef SCHED_FAIR_H
#define SCHED_FAIR_H

#include "lib/rbtree.h"
#include "sched/sched.h"
#include "types.h"

#define NICE_0_WEIGHT 1024u

struct fair_rq {
	struct rb_root tree;       /* runnable entities but curr, by vruntime */
	struct rb_node *leftmost;  /* the next one; NULL: the tree is empty */
	struct sched_entity *curr; /* on the CPU; NULL: idle */
	u64 min_vruntime;          /* never goes back */
	u32 nr_running;            /* curr included */
	u32 load;    /* sum of their weights */
};

enum fair_start { FAIR_NEW, FAIR_WAKEUP };

/* Linux's weight of a nice value, -20 .. 19. */
u32 fair_weight(int nice);
/* ns of CPU time as vruntime of an entity of this weight. */
u64 fair_delta(u64 ns, u32 weight);
/* How long se may run before the others have their turn, ns. */
u32 fair_slice(const struct fair_rq *rq, const struct sched_entity *se);

/* Charges curr, if any, for the time since it was last charged. */
void fair_charge(struct fair_rq *rq, u64 now_ns);
/* se becomes runnable; its vruntime is adjusted to the queue. */
void fair_enqueue(struct fair_rq *rq, struct sched_entity *se, enum fair_start start);
/* curr goes to sleep: there is no curr afterwards. */
void fair_sleep(struct fair_rq *rq);
/* curr goes back into the tree (if there is one), the first leaves it and is curr. NULL: none. */
struct sched_entity *fair_pick(struct fair_rq *rq, u64 now_ns);
/* curr lets every other entity go first. */
void fair_yield(struct fair_rq *rq);
/* Should curr make room: now that a tick has passed; now that se has woken? */
bool fair_tick_preempts(const struct fair_rq *rq);
bool fair_wakeup_preempts(const struct fair_rq *rq, const struct sched_entity *se);
void fair_reweight(struct fair_rq *rq, struct sched_entity *se, u32 weight);
/* 0, or -EINVAL: the tree is out of order, or its counts are wrong. */
int fair_check(const struct fair_rq *rq);

#endif
