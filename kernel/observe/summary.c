/*
 * The costs of a run: saved for every process when it exits, printed at the end of the run.
 *
 * Space-time in page-seconds, from the exact integrals of sched/acct.h. C_B, Belady and Kuehner's
 * cost, is RSS over wall time from start to exit. C_D, Denning's, is RSS over the process's own
 * virtual time plus, for every major fault, RSS times its delay. Delta = C_B - C_D is what
 * Denning's form leaves out; the terms of that sum are in schema.h. One of them, Gamma, is the
 * housekeeping: the space-time of the kernel's work for the process. gamma is Gamma divided by the
 * sum of RSS over its major faults, so that C_D + gamma * that sum adds exactly that work. With few
 * major faults the quotient says nothing about their cost, and is not shown. c_d_approx is x * T *
 * (1 + D * K / T) with mean RSS x, virtual time T, K faults of delay D.
 */
#include "arch/irq.h"
#include "arch/time.h"
#include "drivers/block.h"
#include "lib/printf.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/control.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/swap.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "observe/events.h"
#include "proc/task.h"
#include "sched/still.h"
#include "sched/task.h"
#include "schema.h"

#define MAX_RECORDS 64
#define GAMMA_MAJFLT 30 /* as in tools/tidemark/runs/summary.py */

/* Delta's terms, in an order in which C_D plus the first n terms is never negative. */
enum term {
	TERM_RSS_CHANGE,
	TERM_HOUSEKEEPING,
	TERM_READY,
	TERM_MINOR_WAIT,
	TERM_OTHER_WAIT,
	TERM_ADMISSION,
	TERM_SLEEP,
	NR_TERMS,
};

struct record {
	int pid, exit_code;
	char comm[TASK_COMM_LEN];
	u64 turnaround_ns, user_ns;
	u64 minflt, majflt;
	u32 mean_rss, max_rss;         /* pages */
	u64 c_b, c_d, c_d_approx; /* page-milliseconds */
	s64 delta, terms[NR_TERMS];
	u64 housekeeping; /* Gamma, page-microseconds */
	u64 fault_rss;    /* pages */
};

static struct record records[MAX_RECORDS];
static u32 nr_exited;
static u64 user_us;  /* of all exited processes, including those without a record */
static u64 total_us; /* from the first record of the telemetry to the last sample */

/* The last sample has been taken: the costs of the run are counted up to here. */
static void summary_stop(void)
{
	total_us = telemetry_span_us();
}

AT_STAGE(report, 20, summary_stop);

/* Converts page-cycles to page-milliseconds. */
static u64 page_ms(u64 page_cycles)
{
	return cycles_to_ns(page_cycles) / 1000000;
}

/* Returns the space-time of an account in a copy in which all accounts are closed. */
static u64 space_of(const struct acct_clock *a, enum acct which)
{
	return acct_space(a, which, 0);
}

static u64 total_space(const struct acct_clock *a)
{
	u64 sum = 0;

	for (int i = 0; i < NR_ACCTS; i++)
		sum += space_of(a, i);
	return sum;
}

/* x * T * (1 + D * K / T) = x * (T + D * K), in page-milliseconds. */
static u64 approximation(const struct acct_clock *a, u64 delay_cycles)
{
	u64 t = a->cycles[ACCT_USER], x_milli = t ? space_of(a, ACCT_USER) / (t / 1000 ?: 1) : 0;

	return x_milli * (cycles_to_ns(t + delay_cycles) / 1000) / 1000000;
}

/*
 * Delta's terms, in page-milliseconds. A term is the growth of a rounded sum, so that the rounded
 * terms add up to the rounded Delta.
 */
static void fill_terms(struct record *r, const struct acct_clock *a, u64 c_d)
{
	const u64 terms[NR_TERMS] = {
		[TERM_RSS_CHANGE] = a->major.space - a->major.rss_cycles,
		[TERM_HOUSEKEEPING] = space_of(a, ACCT_KERNEL),
		[TERM_READY] = space_of(a, ACCT_READY),
		[TERM_MINOR_WAIT] = a->minor.space,
		[TERM_OTHER_WAIT] = space_of(a, ACCT_PAGEWAIT) - a->major.space - a->minor.space,
		[TERM_ADMISSION] = space_of(a, ACCT_ADMIT),
		[TERM_SLEEP] = space_of(a, ACCT_SLEEP),
	};
	u64 sum = c_d, before = page_ms(sum), after;

	ASSERT(a->major.space + a->minor.space <= space_of(a, ACCT_PAGEWAIT));
	for (int i = 0; i < NR_TERMS; i++, before = after) {
		sum += terms[i];
		after = page_ms(sum);
		r->terms[i] = after - before;
	}
}

static void fill(struct record *r, const struct acct_clock *a, struct task_struct *t)
{
	u64 c_b = total_space(a), c_d = space_of(a, ACCT_USER) + a->major.rss_cycles;

	r->pid = t->pid;
	r->exit_code = t->exit_code;
	strlcpy(r->comm, t->comm, sizeof(r->comm));
	r->turnaround_ns = clock_ns() - t->start_ns;
	r->user_ns = task_utime_ns(t);
	r->minflt = t->nr_minflt;
	r->majflt = t->nr_majflt;
	r->c_b = page_ms(c_b);
	r->c_d = page_ms(c_d);
	r->delta = (s64)r->c_b - (s64)r->c_d; /* negative if RSS shrank during waits */
	fill_terms(r, a, c_d);
	r->c_d_approx = approximation(a, a->major.cycles);
	r->housekeeping = cycles_to_ns(space_of(a, ACCT_KERNEL)) / 1000;
	r->fault_rss = a->major_rss;
	r->mean_rss = r->turnaround_ns ? cycles_to_ns(c_b) / r->turnaround_ns : 0;
	r->max_rss = t->mm->count.max_rss;
}

static void send_times(const struct acct_clock *a)
{
	telemetry_open("us", '[');
	for (int i = 0; i < NR_ACCTS; i++)
		telemetry_u64(NULL, cycles_to_ns(a->cycles[i]) / 1000);
	telemetry_close(']');
}

static void send_space(const struct acct_clock *a)
{
	telemetry_open("page_ms", '[');
	for (int i = 0; i < NR_ACCTS; i++)
		telemetry_u64(NULL, page_ms(space_of(a, i)));
	telemetry_close(']');
}

static void send_terms(const struct record *r)
{
	telemetry_open("delta_terms", '{');
	PART_DELTA_TERMS(EMIT);
	telemetry_close('}');
}

static void report(const struct record *r, const struct acct_clock *a, struct task_struct *t)
{
	if (!telemetry_begin("exit"))
		return;
	RECORD_EXIT(EMIT);
	telemetry_end();
}

/* Returns a copy of the account up to now. Interrupts add to the account, but all numbers of a
 * record must be of one instant. */
static struct acct_clock closed(struct task_struct *t)
{
	unsigned long flags = irq_save();
	struct acct_clock a = t->acct;
	u64 now = cycles_now();

	a.cycles[a.now] += now;
	irq_restore(flags);
	return a;
}

static void exited(struct task_struct *t)
{
	static struct record spare; /* for processes that no longer fit */
	struct record *r = nr_exited < MAX_RECORDS ? &records[nr_exited] : &spare;
	struct acct_clock a;

	if (!t->mm || t->pid == 1)
		return;
	a = closed(t);
	fill(r, &a, t);
	report(r, &a, t);
	user_us += r->user_ns / 1000;
	nr_exited++;
}

static void summary_init(void)
{
	listen_exit(exited);
}

AT_STAGE(first, 20, summary_init);

/* Returns the exit status, or the negative number of the signal that ended it. */
static int exit_status(const struct record *r)
{
	int signal = r->exit_code & 0x7f;

	return signal ? -signal : r->exit_code >> 8 & 0xff;
}

static void print_gamma(const struct record *r)
{
	u64 ms = r->housekeeping / 1000;

	printk(" %9llu.%03llu", ms / 1000, ms % 1000);
	if (r->majflt < GAMMA_MAJFLT || !r->fault_rss)
		printk(" %8s\n", "few");
	else
		printk(" %8llu\n", r->housekeeping / r->fault_rss);
}

static void print_process(const struct record *r)
{
	printk("%5d %-12s %6d %9llu.%03llu %8llu %8llu %8llu %8u %8llu.%03llu %8llu.%03llu", r->pid,
	       r->comm, exit_status(r), r->turnaround_ns / 1000000, r->turnaround_ns / 1000 % 1000,
	       r->user_ns / 1000000, r->minflt, r->majflt, r->mean_rss * 4, r->c_b / 1000,
	       r->c_b % 1000, r->c_d / 1000, r->c_d % 1000);
	print_gamma(r);
}

/* Returns a share in tenths of a percent, rounded. */
static u32 permille(u64 part, u64 whole)
{
	return whole ? (part * 2000 + whole) / (whole * 2) : 0;
}

/* Prints where the time went. The host computes the same numbers from the telemetry
 * (tools/tidemark/runs/summary.py). */
static void print_time(void)
{
	u64 policy_us = cycles_to_ns(policy_timer.cycles) / 1000, ms = (total_us + 500) / 1000;
	u32 busy = permille(total_us - sched_idle_ns() / 1000, total_us);
	u32 user = permille(user_us, total_us), policy = permille(policy_us, total_us);

	printk("system: %llu.%03llu s, utilisation %u.%u%% (user %u.%u%%), policy %s %llu us "
	       "(%u.%u%%)\n",
	       ms / 1000, ms % 1000, busy / 10, busy % 10, user / 10, user % 10, vm_policy->name,
	       policy_us, policy / 10, policy % 10);
}

static void print_system(void)
{
	print_time();
	printk("faults: %llu, %llu of them major, %llu refaults; swap: %llu pages in, %llu out",
	       vm_events[VM_pgfault], vm_events[VM_pgmajfault], vm_events[VM_workingset_refault],
	       vm_events[VM_pswpin], vm_events[VM_pswpout]);
	if (swap_bdev)
		printk(" by %llu reads and %llu writes", bdev_requests(swap_bdev, false),
		       bdev_requests(swap_bdev, true));
	printk("\nreclaim: %llu scanned by kswapd, %llu direct, %llu freed, %llu rescued, %llu stalls; "
	       "%llu waits for admission; %llu killed for memory\n",
	       vm_events[VM_pgscan_kswapd], vm_events[VM_pgscan_direct], reclaim_nr_freed(),
	       vm_events[VM_pgrescued], vm_events[VM_allocstall], vm_events[VM_admission_wait],
	       vm_events[VM_oom_kill]);
	if (policy_violations())
		printk("policy violations: %u\n", policy_violations());
}

/* Prints the table of a run and writes the telemetry's "end". */
static void summary_print(void)
{
	int status = run_status;

	if (!run_mode())
		return;
	printk("\n%5s %-12s %6s %13s %8s %8s %8s %8s %12s %12s %13s %8s\n", "PID", "COMMAND",
	       "EXIT", "TURNAROUND_MS", "USER_MS", "MINFLT", "MAJFLT", "RSS_KIB", "C_B_PAGE_S",
	       "C_D_PAGE_S", "KERNEL_PAGE_S", "GAMMA_US");
	for (u32 i = 0; i < MIN(nr_exited, MAX_RECORDS); i++)
		print_process(&records[i]);
	if (nr_exited > MAX_RECORDS)
		printk("and %u more\n", nr_exited - MAX_RECORDS);
	print_system();
	if (!telemetry_begin("end"))
		return;
	RECORD_END(EMIT);
	telemetry_end();
}

AT_STAGE(report, 60, summary_print);

static void run_reports(void)
{
	run_stage(report);
}

/* Prints the reports while the clock stands still, because their length depends on the samples
 * taken so far. */
static void report_run(void)
{
	irq_disable(); /* for good */
	timer_disarm();
	still(run_reports);
}

AT_STAGE(end, 90, report_run);
