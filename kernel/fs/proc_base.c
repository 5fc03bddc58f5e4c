/*
 * The files of /proc about the machine as a whole that belong to no other part of the kernel, in
 * Linux's formats where Linux has them.
 *
 * CPU time (the cpu line of /proc/stat): idle and iowait come from the scheduler. user is the sum
 * over all tasks and the children they have waited for. system is the rest of the time since boot,
 * so that the columns always add up.
 */
#include "procfs.h"

#include "internal.h"

#include "arch/machine.h"
#include "arch/time.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "sched/task.h"
#include "sched/sched.h"

#define NS_PER_S 1000000000u
#define LOAD_SHIFT 11

static void cmdline_show(struct seq_file *m)
{
	seq_printf(m, "%s\n", boot_info.cmdline);
}

static void version_show(struct seq_file *m)
{
	seq_printf(m, "Tidemark (gcc %s)\n", __VERSION__);
}

static void put_seconds(struct seq_file *m, u64 ns)
{
	u64 ticks = ns_to_ticks(ns);

	seq_printf(m, "%llu.%02u", ticks / 100, (u32)(ticks % 100));
}

static void uptime_show(struct seq_file *m)
{
	put_seconds(m, clock_ns());
	seq_putc(m, ' ');
	put_seconds(m, sched_idle_ns());
	seq_putc(m, '\n');
}

static int newest_pid(void)
{
	if (list_empty(&task_list))
		return 0;
	return list_last_entry(&task_list, struct task_struct, all)->pid;
}

static void loadavg_show(struct seq_file *m)
{
	u32 avg[3];

	sched_loadavg(avg);
	for (int i = 0; i < 3; i++) {
		u32 hundredths = (avg[i] * 100 + (1 << (LOAD_SHIFT - 1))) >> LOAD_SHIFT;

		seq_printf(m, "%u.%02u ", hundredths / 100, hundredths % 100);
	}
	seq_printf(m, "%u/%u %d\n", sched_nr_running(), nr_tasks(), newest_pid());
}

static u64 total_utime_ns(void)
{
	struct task_struct *t;
	u64 sum = 0;

	for_each_task(t)
		sum += task_utime_ns(t) + t->child_utime_ns;
	return sum;
}

static u32 nr_blocked(void)
{
	struct task_struct *t;
	u32 n = 0;

	for_each_task(t)
		n += t->state == TASK_UNINTERRUPTIBLE && (t->in_iowait || t->in_pagewait);
	return n;
}

/* Columns: user nice system idle iowait irq softirq steal guest guest_nice. */
static void put_cpu(struct seq_file *m, const char *name)
{
	u64 now = clock_ns(), user = total_utime_ns();
	u64 idle = sched_idle_ns(), iowait = sched_iowait_ns();
	u64 system = now > user + idle ? now - user - idle : 0;

	seq_printf(m, "%s %llu 0 %llu %llu %llu 0 0 0 0 0\n", name, ns_to_ticks(user),
		   ns_to_ticks(system), ns_to_ticks(idle - iowait), ns_to_ticks(iowait));
}

static void stat_show(struct seq_file *m)
{
	put_cpu(m, "cpu ");
	put_cpu(m, "cpu0");
	seq_printf(m, "intr 0\nctxt %llu\nbtime %llu\n", sched_nr_switches(),
		   (clock_realtime_ns() - clock_ns()) / NS_PER_S);
	seq_printf(m, "processes %llu\nprocs_running %u\nprocs_blocked %u\n", nr_forks,
		   sched_nr_running(), nr_blocked());
}

static bool put_param(const struct param_info *info, void *arg)
{
	struct seq_file *m = arg;
	char value[160];

	if (param_get(info->name, value, sizeof(value)) < 0)
		value[0] = '\0';
	seq_printf(m, "%s=%s\t%s\t%s\n", info->name, value, info->values,
		   info->help ? info->help : "");
	return true;
}

/* One parameter per line: name=value, valid values with their unit, help; separated by tabs. */
static void params_show(struct seq_file *m)
{
	param_for_each(put_param, m);
}

/* "name=value" sets a parameter, as on the command line. */
static int params_store(char *text)
{
	char *value = strchr(text, '='), err[160] = "";
	int ret;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	ret = param_set(text, value, err, sizeof(err));
	if (ret)
		printk("params: %s\n", err);
	return ret;
}

static const struct proc_file files[] = {
	{ "cmdline", cmdline_show, NULL },
	{ "filesystems", filesystems_show, NULL },
	{ "loadavg", loadavg_show, NULL },
	{ "mounts", mounts_show, NULL },
	{ "params", params_show, params_store },
	{ "sched", sched_show, NULL },
	{ "stat", stat_show, NULL },
	{ "uptime", uptime_show, NULL },
	{ "version", version_show, NULL },
	{ NULL, NULL, NULL },
};

PROC_FILES(files);
