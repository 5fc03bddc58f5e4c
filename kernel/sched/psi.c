/* Memory pressure of the machine; the theory is in psi.h. */
#include "psi.h"
#include "arch/irq.h"
#include "arch/time.h"
#include "internal.h"
#include "lib/seq_file.h"
#include "sched/current.h"
#include "sched/timer.h"

static struct psi psi; /* irq */
static struct psi_average some_average, full_average;
static struct timer timer;
static u64 averaged_ns; /* when the averages were last updated */

static enum psi_class class_of(const struct task_struct *t)
{
	bool runs = t->state == TASK_RUNNING;

	if (t->flags & TF_KTHREAD || t->state >= TASK_ZOMBIE)
		return PSI_NONE;
	if (t->flags & TF_RECLAIM || (!runs && t->in_pagewait))
		return PSI_STALLED;
	return runs ? PSI_PRODUCTIVE : PSI_NONE;
}

void psi_task_changed(struct task_struct *t, u64 now)
{
	enum psi_class class = class_of(t);
	unsigned long flags;

	if (class == t->psi)
		return;
	flags = irq_save();
	psi_move(&psi, t->psi, class, now);
	t->psi = class;
	irq_restore(flags);
}

void psi_move_stamp(u64 cycles)
{
	psi.since += cycles;
}

static u64 settled_ns(const u64 *cycles)
{
	unsigned long flags = irq_save();
	u64 v;

	psi_settle(&psi, clock_cycles());
	v = *cycles;
	irq_restore(flags);
	return cycles_to_ns(v);
}

u64 psi_some_ns(void)
{
	return settled_ns(&psi.some);
}

u64 psi_full_ns(void)
{
	return settled_ns(&psi.full);
}

static void average_fire(struct timer *t)
{
	u64 now = clock_ns(), elapsed = now - averaged_ns;
	u32 periods = elapsed / PSI_PERIOD_NS;

	psi_average_update(&some_average, psi_some_ns(), elapsed, periods);
	psi_average_update(&full_average, psi_full_ns(), elapsed, periods);
	averaged_ns = now;
	timer_start(t, now + PSI_PERIOD_NS);
}

void psi_init(void)
{
	averaged_ns = clock_ns();
	timer_setup(&timer, average_fire, true);
	timer_start(&timer, averaged_ns + PSI_PERIOD_NS);
}

static void show_line(struct seq_file *m, const char *name, const struct psi_average *a, u64 ns)
{
	static const char *const windows[3] = { "avg10", "avg60", "avg300" };

	seq_puts(m, name);
	for (int i = 0; i < 3; i++)
		seq_printf(m, " %s=%u.%02u", windows[i], a->avg[i] >> PSI_FSHIFT,
			   (a->avg[i] & (PSI_FIXED_1 - 1)) * 100 >> PSI_FSHIFT);
	seq_printf(m, " total=%llu\n", ns / 1000);
}

void psi_show(struct seq_file *m)
{
	show_line(m, "some", &some_average, psi_some_ns());
	show_line(m, "full", &full_average, psi_full_ns());
}
