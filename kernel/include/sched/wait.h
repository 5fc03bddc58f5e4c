/*
 * Wait queues and sleeping mutexes. Interrupt handlers may wake, never sleep.
 *
 *   wait_event(&wq, cond)                sleeps until cond holds; nothing interrupts it
 *   wait_event_interruptible(&wq, cond)  returns 0, or -ERESTARTSYS if a signal came first
 */
#ifndef SCHED_WAIT_H
#define SCHED_WAIT_H

#include "arch/irq.h"
#include "lib/assert.h"
#include "lib/list.h"
#include "types.h"

struct task_struct;

struct wait_queue {
	struct list_head waiters; /* irq: of struct wait_entry */
};

struct wait_entry {
	struct task_struct *task;
	struct list_head node;
};

#define WAIT_QUEUE(name) struct wait_queue name = { LIST_HEAD_INIT((name).waiters) }

static inline void wait_queue_init(struct wait_queue *wq)
{
	INIT_LIST_HEAD(&wq->waiters);
}

/* Queues current (once) and sets its state. The caller then tests the condition and calls
 * schedule(). */
void wait_prepare(struct wait_queue *wq, struct wait_entry *e, bool interruptible);
void wait_finish(struct wait_queue *wq, struct wait_entry *e);
/* Wakes every waiter. Any context. */
void wake_up(struct wait_queue *wq);
/* Wakes the longest waiting task. */
void wake_up_one(struct wait_queue *wq);

void schedule(void);
bool signal_pending_current(void);

#define ERESTARTSYS 512 /* internal: becomes EINTR or a restart before user mode sees it */

#define __wait_event(wq, cond, interruptible, ret)                                                 \
	do {                                                                                       \
		struct wait_entry __e;                                                             \
		__e.task = NULL;                                                                   \
		for (;;) {                                                                         \
			wait_prepare(wq, &__e, interruptible);                                     \
			if (cond)                                                                  \
				break;                                                             \
			if ((interruptible) && signal_pending_current()) {                         \
				ret = -ERESTARTSYS;                                                \
				break;                                                             \
			}                                                                          \
			schedule();                                                                \
		}                                                                                  \
		wait_finish(wq, &__e);                                                             \
	} while (0)

#define wait_event(wq, cond)                                                                       \
	do {                                                                                       \
		int __r = 0;                                                                       \
		if (!(cond))                                                                       \
			__wait_event(wq, cond, false, __r);                                        \
		(void)__r;                                                                         \
	} while (0)

#define wait_event_interruptible(wq, cond)                                                         \
	({                                                                                         \
		int __r = 0;                                                                       \
		if (!(cond))                                                                       \
			__wait_event(wq, cond, true, __r);                                         \
		__r;                                                                               \
	})

/* A sleeping lock that records its owner. Not recursive. */
struct mutex {
	struct task_struct *owner;
	struct wait_queue waiters;
};

static inline void mutex_init(struct mutex *m)
{
	m->owner = NULL;
	wait_queue_init(&m->waiters);
}

void mutex_lock_slow(struct mutex *m);
void mutex_unlock_slow(struct mutex *m);
bool mutex_held(const struct mutex *m); /* returns true if current holds it */
bool mutex_trylock(struct mutex *m);

extern struct task_struct *current_task;

static inline void mutex_lock(struct mutex *m)
{
	if (likely(!m->owner))
		m->owner = current_task;
	else
		mutex_lock_slow(m);
}

static inline void mutex_unlock(struct mutex *m)
{
	ASSERT(m->owner == current_task);
	m->owner = NULL;
	if (unlikely(!list_empty(&m->waiters.waiters)))
		mutex_unlock_slow(m);
}

#endif
