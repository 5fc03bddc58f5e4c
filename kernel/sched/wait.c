/*
 * Wait queues and mutexes.
 *
 * No wake-up is lost: a waiter first queues itself and sets its state to sleeping, then tests the
 * condition once more, and only then calls schedule(). A wake-up in between sets the state back to
 * running, and schedule() does not put the task to sleep.
 *
 * A waiter removes itself from the queue. wake_up_one skips the tasks that are already awake, so
 * that each call wakes one more task.
 *
 * A mutex is not handed over: unlocking wakes the first waiter, and another task may take the mutex
 * before that waiter runs. The waiter then keeps its place at the head.
 */
#include "sched/wait.h"
#include "arch/irq.h"
#include "lib/assert.h"
#include "sched/current.h"

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
