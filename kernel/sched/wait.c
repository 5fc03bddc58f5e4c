/*
 * Wait queues and mutexes.
 *
 * No wake-up is lost: a waiter first queues itself and says in its state that it sleeps, then looks
 * at the condition once more, and only then calls schedule(). A wake-up in between sets the state
 * back to running, and schedule() does not put it to sleep.
 *
 * A waiter takes itself off the queue. wake_up_one passes over those that are already awake, so
 * that each call wakes one more.
 *
 * A mutex is not handed over: whoever unlocks it wakes the first waiter, and another task may
 * take it before that one runs. The waiter then keeps its place at the head.
 */
#include "sched/wait.h"
#include "arch/irq.h"
#include "lib/assert.h"
#include "proc/task.h"

void wait_prepare(struct wait_queue *wq, struct wait_entry *e, bool interruptible)
{
	unsigned long flags = irq_save();

	if (!e->task) {
		e->task = current;
		list_add_tail(&e->node, &wq->waiters);
	}
	current->state = interruptible ? TASK_INTERRUPTIBLE : TASK_UNINTERRUPTIBLE;
	irq_restore(flags);
}

void wait_finish(struct wait_queue *wq, struct wait_entry *e)
{
	unsigned long flags = irq_save();

	(void)wq;
	current->state = TASK_RUNNING;
	if (e->task)
		list_del(&e->node);
	irq_restore(flags);
}

void wake_up(struct wait_queue *wq)
{
	unsigned long flags = irq_save();
	struct wait_entry *e;

	list_for_each_entry(e, &wq->waiters, node)
		wake_up_process(e->task);
	irq_restore(flags);
}

void wake_up_one(struct wait_queue *wq)
{
	unsigned long flags = irq_save();
	struct wait_entry *e;

	list_for_each_entry(e, &wq->waiters, node) {
		if (wake_up_process(e->task))
			break;
	}
	irq_restore(flags);
}

bool mutex_held(const struct mutex *m)
{
	return m->owner == current;
}

bool mutex_trylock(struct mutex *m)
{
	if (m->owner)
		return false;
	m->owner = current;
	return true;
}

void mutex_lock_slow(struct mutex *m)
{
	ASSERT(m->owner != current);
	wait_event(&m->waiters, !m->owner);
	m->owner = current;
}

void mutex_unlock_slow(struct mutex *m)
{
	wake_up_one(&m->waiters);
}
