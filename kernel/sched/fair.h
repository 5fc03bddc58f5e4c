/*
 * The CFS run queue by itself: which entity runs next, for how long, and how it is charged. Pure:
 * no tasks, no clock, no interrupts, so it can be tested on the host. Callers have interrupts off.
 */
#ifndef SCHED_FAIR_H
#define SCHED_FAIR_H

#include "lib/rbtree.h"
#include "sched/sched.h"
#include "types.h"

#define NICE_0_WEIGHT 1024u

struct fair_rq {
	struct rb_root tree;       /* runnable entities except curr, by vruntime */
	struct rb_node *leftmost;  /* the next one; NULL: the tree is empty */
	struct sched_entity *curr; /* on the CPU; NULL: idle */
	u64 min_vruntime;          /* never decreases */
	u32 nr_running;            /* curr included */
	u32 load;    /* sum of their weights */
};

enum fair_start { FAIR_NEW, FAIR_WAKEUP };

/* Linux's weight of a nice value, -20 .. 19. */
u32 fair_weight(int nice);
/* Converts ns of CPU time to vruntime of an entity of this weight. */
u64 fair_delta(u64 ns, u32 weight);
/* Returns how long se may run before the others have their turn, in ns. */
u32 fair_slice(const struct fair_rq *rq, const struct sched_entity *se);

/* Charges curr, if any, for the time since the last charge. */
void fair_charge(struct fair_rq *rq, u64 now_ns);
/* Makes se runnable and adjusts its vruntime to the queue. */
void fair_enqueue(struct fair_rq *rq, struct sched_entity *se, enum fair_start start);
/* Puts curr to sleep: there is no curr afterwards. */
void fair_sleep(struct fair_rq *rq);
/* Puts curr, if any, back into the tree and makes the first entity curr. Returns NULL if there is
 * none. */
struct sched_entity *fair_pick(struct fair_rq *rq, u64 now_ns);
/* Lets every other entity run before curr. */
void fair_yield(struct fair_rq *rq);
/* Return true if curr should be preempted: after a tick; after se has woken. */
bool fair_tick_preempts(const struct fair_rq *rq);
bool fair_wakeup_preempts(const struct fair_rq *rq, const struct sched_entity *se);
void fair_reweight(struct fair_rq *rq, struct sched_entity *se, u32 weight);
/* Returns 0, or -EINVAL if the tree is out of order or its counts are wrong. */
int fair_check(const struct fair_rq *rq);

#endif
