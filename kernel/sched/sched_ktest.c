/* In the kernel: tests of timers, wait queues, mutexes and kernel threads, on the real run
 * queue. */
#include "arch/irq.h"
#include "arch/time.h"
#include "internal.h"
#include "lib/ktap.h"
#include "proc/task.h"
#include "sched/task.h"
#include "sched/timer.h"
#include "sched/wait.h"

#define MS 1000000ull

static volatile u32 fired, order;
static struct timer timers[3];

static void note_order(struct timer *t)
{
	fired++;
	order = order * 10 + (t - timers) + 1;
}

KTEST(timer, fires_in_order_of_expiry)
{
	u64 now = clock_ns();

	fired = order = 0;
	for (int i = 0; i < 3; i++)
		timer_setup(&timers[i], note_order, false);
	timer_start(&timers[0], now + 3 * MS);
	timer_start(&timers[1], now + 1 * MS);
	timer_start(&timers[2], now + 2 * MS);
	ksleep_ns(5 * MS);
	EXPECT_EQ(fired, 3);
	EXPECT_EQ(order, 231);
	EXPECT(!timers[0].armed);
}

KTEST(timer, stopped_one_does_not_fire)
{
	fired = 0;
	timer_setup(&timers[0], note_order, false);
	timer_start(&timers[0], clock_ns() + MS);
	timer_stop(&timers[0]);
	timer_stop(&timers[0]);
	ksleep_ns(3 * MS);
	EXPECT_EQ(fired, 0);
}

KTEST(timer, restart_moves_it)
{
	fired = 0;
	timer_setup(&timers[0], note_order, false);
	timer_start(&timers[0], clock_ns() + MS);
	timer_start(&timers[0], clock_ns() + 20 * MS);
	ksleep_ns(5 * MS);
	EXPECT_EQ(fired, 0);
	ksleep_ns(20 * MS);
	EXPECT_EQ(fired, 1);
}

KTEST(timer, past_time_fires_at_once)
{
	fired = 0;
	timer_setup(&timers[0], note_order, false);
	timer_start(&timers[0], clock_ns() - MS);
	ksleep_ns(MS);
	EXPECT_EQ(fired, 1);
}

KTEST(timer, deferrable_waits_for_another_wakeup)
{
	u64 before = clock_ns();

	fired = 0;
	timer_setup(&timers[0], note_order, true);
	timer_start(&timers[0], before + MS);
	EXPECT(!timer_next_ns() || timer_next_ns() > before + MS);
	ksleep_ns(10 * MS);
	EXPECT_EQ(fired, 1);
}

KTEST(timer, sleep_lasts_as_long_as_asked)
{
	/* The machine's PIT counts in steps of 838 ns. */
	for (u64 ns = MS / 100; ns < 200 * MS; ns *= 7) {
		u64 start = clock_ns(), slept;

		ksleep_ns(ns);
		slept = clock_ns() - start;
		EXPECT(slept >= ns && slept < ns + 2 * MS);
	}
}

static WAIT_QUEUE(queue);
static volatile u32 woken, go, stage;
static struct mutex mutex;

static void waiter(void *arg)
{
	(void)arg;
	wait_event(&queue, go);
	woken++;
	if (go != 1)
		go--;
	do_exit(0);
}

static void let_others_run(void)
{
	ksleep_ns(MS);
}

KTEST(wait, wake_up_wakes_all)
{
	u32 tasks = nr_tasks();

	go = woken = 0;
	for (int i = 0; i < 5; i++)
		kthread_create("waiter", 0, waiter, NULL);
	let_others_run();
	EXPECT_EQ(woken, 0);
	wake_up(&queue);
	let_others_run();
	EXPECT_EQ(woken, 0);
	go = 1;
	wake_up(&queue);
	let_others_run();
	EXPECT_EQ(woken, 5);
	EXPECT(list_empty(&queue.waiters));
	EXPECT_EQ(nr_tasks(), tasks);
}

KTEST(wait, wake_up_one_wakes_one_each)
{
	woken = 0;
	go = 0;
	for (int i = 0; i < 3; i++)
		kthread_create("waiter", 0, waiter, NULL);
	let_others_run();
	go = 1;
	wake_up_one(&queue);
	let_others_run();
	EXPECT_EQ(woken, 1);
	wake_up_one(&queue);
	wake_up_one(&queue);
	let_others_run();
	EXPECT_EQ(woken, 3);
}

/* Two threads, each of which sleeps while it holds the mutex: they are never inside together. */
static void locker(void *arg)
{
	volatile u32 *inside = arg;

	for (int i = 0; i < 20; i++) {
		mutex_lock(&mutex);
		stage += *inside;
		++*inside;
		ksleep_ns(MS / 20);
		--*inside;
		mutex_unlock(&mutex);
	}
	woken++;
	do_exit(0);
}

KTEST(mutex, holds_others_off)
{
	static volatile u32 inside;

	mutex_init(&mutex);
	woken = stage = 0;
	for (int i = 0; i < 3; i++)
		kthread_create("locker", 0, locker, (void *)&inside);
	while (woken < 3)
		let_others_run();
	EXPECT_EQ(stage, 0);
	EXPECT(!mutex.owner);
	EXPECT(list_empty(&mutex.waiters.waiters));
}

KTEST(mutex, trylock_and_held)
{
	mutex_init(&mutex);
	EXPECT(!mutex_held(&mutex));
	EXPECT(mutex_trylock(&mutex));
	EXPECT(mutex_held(&mutex));
	EXPECT(!mutex_trylock(&mutex));
	mutex_unlock(&mutex);
	EXPECT(!mutex_held(&mutex));
}

static volatile bool stop;

static void spinner(void *arg)
{
	(void)arg;
	while (!stop)
		cond_resched();
	woken++;
	do_exit(0);
}

KTEST(sched, nice_shares_cpu_by_weight)
{
	struct task_struct *a, *b;
	u64 ratio;

	stop = false;
	woken = 0;
	a = kthread_create("spin0", 0, spinner, NULL);
	b = kthread_create("spin5", 5, spinner, NULL);
	ksleep_ns(400 * MS);
	ratio = a->se.sum_exec * 1000 / b->se.sum_exec;
	ktap_note("nice 0 : nice 5 = %llu : 1000 (weights: 3056)", ratio);
	EXPECT(ratio > 2700 && ratio < 3500);
	EXPECT_EQ(fair_check(&fair_rq), 0);
	stop = true;
	while (woken < 2)
		let_others_run();
}

KTEST(sched, accounts_add_up_to_age)
{
	struct acct_clock *a = &current->acct;
	u64 sum = 0, age, slept, now;

	slept = a->cycles[ACCT_SLEEP];
	ksleep_ns(10 * MS);
	slept = a->cycles[ACCT_SLEEP] - slept;
	EXPECT(cycles_to_ns(slept) >= 9 * MS && cycles_to_ns(slept) < 12 * MS);
	now = cycles_now();
	age = clock_ns() - current->start_ns;
	for (int i = 0; i < NR_ACCTS; i++)
		sum += acct_cycles(a, i, now);
	sum = cycles_to_ns(sum);
	EXPECT(sum <= age + MS / 10 && age <= sum + MS / 10);
}

KTEST(sched, idle_time_is_counted)
{
	u64 before = sched_idle_ns(), idle;

	ksleep_ns(50 * MS);
	idle = sched_idle_ns() - before;
	EXPECT(idle > 45 * MS && idle <= 51 * MS);
}

KTEST(sched, iowait_is_idle_with_somebody_waiting)
{
	u64 before = sched_iowait_ns(), iowait;

	current->in_iowait = true;
	ksleep_ns(20 * MS);
	current->in_iowait = false;
	iowait = sched_iowait_ns() - before;
	EXPECT(iowait > 18 * MS && iowait <= 21 * MS);
	before = sched_iowait_ns();
	ksleep_ns(20 * MS);
	EXPECT_EQ(sched_iowait_ns() - before, 0);
}

KTEST(sched, queue_is_in_order)
{
	unsigned long flags = irq_save();

	EXPECT_EQ(fair_check(&fair_rq), 0);
	irq_restore(flags);
}
