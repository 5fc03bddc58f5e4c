/*
 * Switching between tasks: the owner of the run queue and of every task's time account.
 *
 * A task leaves the CPU only in schedule(): because it sleeps (its state says so), because its
 * slice is used up or a task with precedence has woken (WORK_RESCHED, tested on return to user mode
 * and in cond_resched), or because it yields. The kernel itself is never preempted.
 *
 * Protection: the run queue and a task's state are changed with interrupts off, since interrupt
 * handlers wake tasks.
 *
 * Accounts (sched/acct.h). A runnable task that leaves the CPU is charged to READY, a sleeping one
 * to PAGEWAIT, ADMIT or SLEEP, by its flags; from its wake-up on to READY, and once picked to
 * KERNEL. Trap entry and exit move it between USER and KERNEL (arch/x86/trap.c).
 *
 * A kernel thread has no address space and keeps using the last one: it uses only kernel addresses,
 * which are the same in every address space.
 */
#include "internal.h"
#include "arch/irq.h"
#include "arch/machine.h"
#include "arch/mmu.h"
#include "arch/time.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/seq_file.h"
#include "lib/string.h"
#include "observe/events.h"
#include "sched/task.h"
#include "sched/timer.h"

#define TICK_NS 4000000u /* HZ = 250 */

struct fair_rq fair_rq;
struct task_struct idle_task = { .comm = "idle", .flags = TF_KTHREAD, .acct.now = ACCT_KERNEL };
struct task_struct *current_task = &idle_task;
u32 nr_iowait;

static struct timer tick;
static u64 nr_switches;
static u32 nr_offers; /* calls of cond_resched by programs */
static u32 progress_switches, progress_user, progress_offers; /* as of the last tick */

PARAM_U32("sched.latency_ns", sched_latency_ns, 100000, 1000000000, "ns",
	  "every runnable task gets a turn within this time");
PARAM_U32("sched.min_granularity_ns", sched_min_granularity_ns, 100000, 1000000000, "ns",
	  "shortest slice");
PARAM_U32("sched.wakeup_granularity_ns", sched_wakeup_granularity_ns, 0, 1000000000, "ns",
	  "lead that a woken task needs to preempt");

static enum acct off_cpu_account(const struct task_struct *t)
{
	if (t->state == TASK_RUNNING)
		return ACCT_READY;
	if (t->in_pagewait)
		return ACCT_PAGEWAIT;
	return t->in_admit ? ACCT_ADMIT : ACCT_SLEEP;
}

/* Switches tasks and accounts. Interrupts are off; they are on again when prev runs next. */
static void switch_to(struct task_struct *prev, struct task_struct *next)
{
	enum acct account = off_cpu_account(prev);

	nr_switches++;
	if (account == ACCT_PAGEWAIT)
		acct_wait_begins(&prev->acct);
	psi_task_changed(prev, acct_switch(&prev->acct, account));
	acct_switch(&next->acct, ACCT_KERNEL);
	if (next->pgd && next->pgd != mmu_current)
		mmu_switch(next->pgd);
	current_task = next;
	thread_switch(prev, next);
}

static void take_off_queue(struct task_struct *t)
{
	ASSERT(t != &idle_task);
	fair_sleep(&fair_rq);
	t->nvcsw++;
	if (t->in_iowait)
		nr_iowait++;
}

void schedule(void)
{
	struct task_struct *prev = current;
	struct sched_entity *se;
	u64 now;

	if (unlikely(irqs_disabled() || in_interrupt()))
		panic("schedule() with interrupts off, or from an interrupt");
	irq_disable();
	task_clear_work(prev, WORK_RESCHED);
	now = clock_ns();
	fair_charge(&fair_rq, now);
	if (prev->state != TASK_RUNNING)
		take_off_queue(prev);
	se = fair_pick(&fair_rq, now);
	if (se != &prev->se) {
		if (prev->state == TASK_RUNNING)
			prev->nivcsw++;
		if (se || prev != &idle_task)
			switch_to(prev, se ? task_of(se) : &idle_task);
	}
	irq_enable();
	if (unlikely(!list_empty(&dead_tasks)))
		event_reap(NULL);
}

/* Makes a task runnable and checks if it preempts the running one. */
static void enqueue(struct task_struct *t, enum fair_start start)
{
	fair_charge(&fair_rq, clock_ns());
	fair_enqueue(&fair_rq, &t->se, start);
	if (fair_wakeup_preempts(&fair_rq, &t->se))
		task_set_work(current, WORK_RESCHED);
}

bool wake_up_process(struct task_struct *t)
{
	unsigned long flags = irq_save();
	bool slept = t->state == TASK_INTERRUPTIBLE || t->state == TASK_UNINTERRUPTIBLE;

	if (slept) {
		t->state = TASK_RUNNING;
		/* On the queue: it has set its state, but has not called schedule() yet. */
		if (!t->se.on_rq) {
			if (t->in_iowait) {
				idle_settle();
				nr_iowait--;
			}
			psi_task_changed(t, acct_switch(&t->acct, ACCT_READY));
			enqueue(t, FAIR_WAKEUP);
		}
	}
	irq_restore(flags);
	return slept;
}

void sched_fork(struct task_struct *child)
{
	struct task_struct *parent = current;

	memset(&child->se, 0, sizeof(child->se));
	child->nice = parent->nice;
	child->se.weight = fair_weight(child->nice);
	child->se.vruntime = parent->se.vruntime;
}

void sched_start(struct task_struct *t)
{
	unsigned long flags = irq_save();

	t->state = TASK_RUNNING;
	psi_task_changed(t, cycles_now());
	enqueue(t, FAIR_NEW);
	irq_restore(flags);
}

void sched_set_nice(struct task_struct *t, int nice)
{
	unsigned long flags = irq_save();

	fair_charge(&fair_rq, clock_ns());
	t->nice = nice;
	fair_reweight(&fair_rq, &t->se, fair_weight(nice));
	irq_restore(flags);
}

void sched_yield(void)
{
	if (fair_rq.nr_running < 2)
		return;
	irq_disable();
	fair_yield(&fair_rq);
	irq_enable();
	schedule();
}

void cond_resched(void)
{
	nr_offers += current->mm != NULL;
	if (current->work & WORK_RESCHED)
		schedule();
}

/*
 * Feeds the watchdog as long as the machine makes progress: a switch, an idle machine, time spent
 * in user mode, or, in a long system call, an offer to switch since the last tick. A loop in the
 * kernel shows none of these. A kernel thread must really switch, because a faulty one may loop
 * forever.
 */
static void feed_watchdog(void)
{
	u32 user = (u32)current->acct.cycles[ACCT_USER];

	if (current != &idle_task && progress_switches == (u32)nr_switches &&
	    progress_user == user && progress_offers == nr_offers)
		return;
	progress_offers = nr_offers;
	progress_switches = nr_switches;
	progress_user = user;
	watchdog_feed();
}

void sched_tick(void)
{
	feed_watchdog();
	event_tick(NULL);
	if (current == &idle_task)
		return;
	fair_charge(&fair_rq, clock_ns());
	if (fair_tick_preempts(&fair_rq))
		task_set_work(current, WORK_RESCHED);
}

static void tick_fire(struct timer *t)
{
	timer_start(t, clock_ns() + TICK_NS);
	sched_tick();
}

void tick_resume(void)
{
	u64 now = clock_ns();

	if (tick.expires_ns <= now)
		timer_start(&tick, now + TICK_NS);
	watchdog_feed();
}

void sched_init(void)
{
	idle_task.se.weight = fair_weight(0);
	acct_skip(&idle_task.acct, cycles_now());
	timer_setup(&tick, tick_fire, true);
	tasks_init();
	loadavg_init();
	psi_init();
}

u32 sched_nr_running(void)
{
	return fair_rq.nr_running;
}

u64 sched_nr_switches(void)
{
	return nr_switches;
}
