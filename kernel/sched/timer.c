/*
 * One-shot timers: a red-black tree by expiry, and the hardware timer armed for its first.
 *
 * The hardware may fire early (it reaches 54 ms) or for a timer that has been stopped since. Each
 * interrupt runs the due timers and arms the hardware again, so both cases are harmless. While the
 * machine is idle, deferrable timers are skipped; they run at the first interrupt after it has
 * woken.
 *
 * A handler may restart its own timer. Everything runs with interrupts off.
 */
#include "sched/timer.h"
#include "arch/irq.h"
#include "arch/machine.h"
#include "arch/time.h"
#include "internal.h"
#include "sched/current.h"
#include "sched/wait.h"

static struct rb_root timers; /* irq */
static struct rb_node *first; /* irq: the earliest */
static u64 hardware_ns;       /* irq: when the hardware fires; 0: not armed */
static bool idle_mode = true; /* irq; also true at boot */

struct sleeper {
	struct timer timer;
	struct task_struct *task;
	volatile bool due;
};

static struct timer *timer_of(struct rb_node *node)
{
	return rb_entry(node, struct timer, node);
}

static u64 earliest(bool deferrable_too)
{
	struct rb_node *node = first;

	while (node && !deferrable_too && timer_of(node)->deferrable)
		node = rb_next(node);
	return node ? timer_of(node)->expires_ns : 0;
}

static void arm(void)
{
	u64 when = earliest(!idle_mode);

	if (when != hardware_ns) {
		hardware_ns = when;
		timer_arm(when, !idle_mode);
	}
}

static void insert(struct timer *t)
{
	struct rb_node **link = &timers.rb_node, *parent = NULL;
	bool leftmost = true;

	while (*link) {
		parent = *link;
		if (t->expires_ns < timer_of(parent)->expires_ns) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	if (leftmost)
		first = &t->node;
	rb_link_node(&t->node, parent, link);
	rb_insert_color(&t->node, &timers);
	t->armed = true;
}

static void erase(struct timer *t)
{
	if (first == &t->node)
		first = rb_next(&t->node);
	rb_erase(&t->node, &timers);
	t->armed = false;
}

void timer_setup(struct timer *t, void (*fn)(struct timer *), bool deferrable)
{
	*t = (struct timer){ .fn = fn, .deferrable = deferrable };
}

void timer_start(struct timer *t, u64 expires_ns)
{
	unsigned long flags = irq_save();

	if (t->armed)
		erase(t);
	t->expires_ns = expires_ns ? expires_ns : 1;
	insert(t);
	if (first == &t->node)
		arm();
	irq_restore(flags);
}

/* Leaves the hardware armed: a needless interrupt costs less than arming twice. */
void timer_stop(struct timer *t)
{
	unsigned long flags = irq_save();

	if (t->armed)
		erase(t);
	irq_restore(flags);
}

u64 timer_next_ns(void)
{
	unsigned long flags = irq_save();
	u64 when = earliest(false);

	irq_restore(flags);
	return when;
}

void timer_enter_idle(void)
{
	idle_mode = true;
	arm();
}

void timer_leave_idle(void)
{
	idle_mode = false;
	arm();
}

void timer_interrupt(void)
{
	u64 now;

	still_timer_interrupt();
	now = clock_ns();
	hardware_ns = 0;
	while (first && timer_of(first)->expires_ns <= now) {
		struct timer *t = timer_of(first);

		erase(t);
		t->fn(t);
	}
	if (idle_mode)
		watchdog_feed();
	arm();
}

static void sleeper_due(struct timer *t)
{
	struct sleeper *s = container_of(t, struct sleeper, timer);

	s->due = true;
	wake_up_process(s->task);
}

static void sleeper_wait(struct sleeper *s, u64 until, bool interruptible)
{
	s->task = current;
	s->due = false;
	timer_setup(&s->timer, sleeper_due, false);
	timer_start(&s->timer, until);
	for (;;) {
		current->state = interruptible ? TASK_INTERRUPTIBLE : TASK_UNINTERRUPTIBLE;
		if (s->due || (interruptible && signal_pending_current()))
			break;
		schedule();
	}
	current->state = TASK_RUNNING;
	timer_stop(&s->timer);
}

int sleep_ns(u64 ns, u64 *left)
{
	struct sleeper s;
	u64 until = clock_ns() + ns, now;

	sleeper_wait(&s, until, true);
	if (s.due)
		return 0;
	now = clock_ns();
	*left = until > now ? until - now : 0;
	return -ERESTARTSYS;
}

void ksleep_ns(u64 ns)
{
	struct sleeper s;

	sleeper_wait(&s, clock_ns() + ns, false);
}
