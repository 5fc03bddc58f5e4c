/* What guards, telemetry and /proc ask about the run queue: its tasks in the order of their turns. */
#include "internal.h"

#include "arch/irq.h"
#include "arch/time.h"
#include "lib/seq_file.h"
#include "sched/sched.h"
#include "sched/task.h"

static int pid_of(struct rb_node *node)
{
	return task_of(rb_entry(node, struct sched_entity, node))->pid;
}

void sched_for_each_queued(void (*fn)(const struct queued_task *q))
{
	unsigned long flags = irq_save();

	for (struct rb_node *node = fair_rq.leftmost; node; node = rb_next(node)) {
		struct rb_node *parent = rb_parent(node);

		fn(&(struct queued_task){
			.pid = pid_of(node),
			.parent = parent ? pid_of(parent) : 0,
			.vruntime = rb_entry(node, struct sched_entity, node)->vruntime,
			.black = node->rb_parent_color & RB_BLACK,
		});
	}
	irq_restore(flags);
}

struct task_struct *sched_queued(bool last)
{
	unsigned long flags = irq_save();
	struct task_struct *found = NULL;

	for (struct rb_node *node = fair_rq.leftmost; node && (last || !found);
	     node = rb_next(node)) {
		struct task_struct *t = task_of(rb_entry(node, struct sched_entity, node));

		found = t->mm ? t : found;
	}
	irq_restore(flags);
	return found;
}

static void show_entity(struct seq_file *m, struct sched_entity *se, char mark)
{
	struct task_struct *t = task_of(se);

	seq_printf(m, "%c %5d %-15s %4d %6u %14llu %14llu %8llu %8llu\n", mark, t->pid, t->comm,
		   t->nice, se->weight, se->vruntime, se->sum_exec, t->nvcsw, t->nivcsw);
}

void sched_show(struct seq_file *m)
{
	unsigned long flags = irq_save();
	struct rb_node *node;

	fair_charge(&fair_rq, clock_ns());
	seq_printf(m, "nr_running %u load %u min_vruntime %llu switches %llu\n", fair_rq.nr_running,
		   fair_rq.load, fair_rq.min_vruntime, sched_nr_switches());
	seq_puts(m, "    pid comm            nice weight    vruntime_ns    sum_exec_ns"
		    "    nvcsw   nivcsw\n");
	if (fair_rq.curr)
		show_entity(m, fair_rq.curr, '>');
	for (node = fair_rq.leftmost; node; node = rb_next(node))
		show_entity(m, rb_entry(node, struct sched_entity, node), ' ');
	irq_restore(flags);
}
