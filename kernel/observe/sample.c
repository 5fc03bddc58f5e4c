/*
 * Sampling: every sample_ms of machine time, what each process needs, has and uses, and how the
 * system fares, as one telemetry line.
 *
 * NAP, the number of accessed pages, comes from the accessed bits: those set since the last sample
 * are counted and cleared, and the policy is left a note (mm/space/young.c). WSS is the number of
 * anonymous pages used in the last wss_tau_ms of the process's virtual time, at this resolution,
 * and of file pages used in the last interval. The machine is not woken to be sampled: an idle one
 * has nothing to say, and sample and policy tick come with the next event.
 *
 * A sample costs ten to a hundred thousand instructions, which may be more than a thrashing machine
 * executes in sample_ms. So samples are put off while they cost more than sample_percent of the time
 * in which the processor was not idle; but no longer than for 1/64 of the time since boot, so that a
 * timeline has its points even where nothing but waiting happens. A process that has not run since
 * the last sample has used nothing, and its page table is not walked.
 */
#include "drivers/block.h"
#include "lib/list.h"
#include "lib/param.h"
#include "lib/seq_file.h"
#include "mm/guard_core.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/swap.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "proc/task.h"
#include "sched/timer.h"
#include "observe/telemetry.h"

static u32 sample_ms = 100, sample_percent = 1, wss_tau_ms = 1000;
PARAM_U32("sample_ms", sample_ms, 0, 10000, "ms", "time between samples; 0: none", AT_BOOT);
PARAM_U32("sample_percent", sample_percent, 1, 100, "%",
	  "of the processor's work, what samples may cost; 100: no limit");
PARAM_U32("wss_tau_ms", wss_tau_ms, 1, 60000, "ms", "window of the measured working-set size");

static struct timer sample_timer;
static WAIT_QUEUE(sample_wait);
static bool due; /* irq */
static u64 last_ns, cost_ns; /* the last sample; what all have cost */
static bool queue_begun;

struct scan {
	struct mm_struct *mm;
	u32 now_ms; /* virtual time */
	u32 nap, wss;
};

static void sample_entry(pte_t *pte, struct scan *s)
{
	struct page *page = pfn_page(pte_pfn(*pte));
	bool used = pte_young(*pte), anon = page_test(page, PG_anon);

	if (is_zero_page(page))
		return;
	if (used) {
		*pte = pte_mkold(*pte);
		if (anon)
			page_set(page, PG_young);
	}
	if (anon && page_test_and_clear(page, PG_sampled))
		used = true;
	if (used && anon)
		page->used_vt = s->now_ms + 1; /* 0: never seen used */
	s->nap += used;
	if (anon)
		s->wss += page->used_vt && s->now_ms + 1 - page->used_vt <= wss_tau_ms;
	else
		s->wss += used;
}

static void sample_region(struct vm_area_struct *vma, struct scan *s)
{
	u32 span = PAGE_SIZE * PTRS_PER_PTE;

	for (u32 addr = vma->start, next; addr < vma->end; addr = next) {
		pte_t *pte;

		next = MIN(ALIGN_DOWN(addr, span) + span, vma->end);
		if (!pgd_has_table(vma->mm->pgd, addr))
			continue;
		pte = pte_lookup(vma->mm->pgd, addr);
		for (u32 n = (next - addr) >> PAGE_SHIFT; n; n--, pte++)
			if (pte_present(*pte))
				sample_entry(pte, s);
	}
}

static void sample_mm(struct mm_struct *mm)
{
	struct scan s = { .mm = mm, .now_ms = mm_vtime(mm) / 1000000 };
	u64 ran = mm->task->acct.cycles[ACCT_USER] + mm->task->acct.cycles[ACCT_KERNEL];
	struct vm_area_struct *vma;

	mm->count.nap = 0;
	if (mm->count.sampled_cycles == ran)
		return;
	mm->count.sampled_cycles = ran;
	list_for_each_entry(vma, &mm->vma_list, list)
		sample_region(vma, &s);
	tlb_flush_all(mm->pgd);
	mm->count.nap = s.nap;
	mm->count.wss = s.wss;
}

static u64 account_us(const struct task_struct *t, enum acct a)
{
	return cycles_to_ns(t->acct.cycles[a]) / 1000;
}

static void report_queued(const struct queued_task *q)
{
	telemetry_add("%s[%d,%llu,%d,%d]", queue_begun ? "," : "", q->pid, q->vruntime, q->black,
		      q->parent);
	queue_begun = true;
}

static void report_scheduler(void)
{
	telemetry_add(",\"cost_us\":%llu,\"psi\":{\"some_us\":%llu,\"full_us\":%llu},\"rq\":[",
		      cost_ns / 1000, psi_some_ns() / 1000, psi_full_ns() / 1000);
	queue_begun = false;
	sched_for_each_queued(report_queued);
	telemetry_add("]");
}

static void report_process(struct mm_struct *mm, bool first)
{
	struct task_struct *t = mm->task;
	const struct mm_counters *c = &mm->count;

	acct_settle(&t->acct);
	telemetry_add("%s{\"pid\":%d,\"comm\":\"%s\",\"state\":%d,\"mad\":%u,\"rss\":%u,\"nap\":%u,"
		      "\"wss\":%u,\"swap\":%u,\"minflt\":%llu,\"majflt\":%llu,\"refault\":%llu",
		      first ? "" : ",", t->pid, t->comm, t->state, c->demand, mm_rss_pages(mm),
		      c->nap, c->wss, c->swapents, t->nr_minflt, t->nr_majflt, c->nr_refault);
	telemetry_add(",\"user_us\":%llu,\"kernel_us\":%llu,\"ready_us\":%llu,\"pagewait_us\":%llu,"
		      "\"admit_us\":%llu,\"sleep_us\":%llu",
		      account_us(t, ACCT_USER), account_us(t, ACCT_KERNEL),
		      account_us(t, ACCT_READY), account_us(t, ACCT_PAGEWAIT),
		      account_us(t, ACCT_ADMIT), account_us(t, ACCT_SLEEP));
	telemetry_add(",\"nice\":%d,\"vruntime\":%llu}", t->nice, t->se.vruntime);
}

/* count: how many there were. */
static void report_number(struct seq_file *m, const char *name, u64 value)
{
	telemetry_add("%s\"%s\":%llu", m->count++ ? "," : "", name, value);
}

static void report_policy(void)
{
	struct seq_file m = { .number = report_number };

	telemetry_add(",\"lists\":{");
	policy_call_show(&m);
	telemetry_add("}");
}

static void report_guard(void)
{
	struct seq_file m = { .number = report_number, .count = 2 };

	if (!vm_guard)
		return;
	telemetry_add(",\"guard\":{\"name\":\"%s\",\"us\":%llu", vm_guard->name,
		      cycles_to_ns(guard_timer.cycles) / 1000);
	guard_call_show(&m);
	telemetry_add("}");
}

static void report_system(void)
{
	telemetry_add(
		",\"idle_us\":%llu,\"iowait_us\":%llu,\"switches\":%llu,\"running\":%u,\"held\":%u",
		sched_idle_ns() / 1000, sched_iowait_ns() / 1000, sched_nr_switches(),
		sched_nr_running(), admission_nr_waiting());
	telemetry_add(",\"free\":[%u,%u,%u],\"owned\":[%u,%u,%u],\"isolated\":%u,\"writing\":%u",
		      zones[0].nr_free, zones[1].nr_free, zones[2].nr_free, zones[0].nr_owned,
		      zones[1].nr_owned, zones[2].nr_owned, vm_nr_isolated, reclaim_nr_writing());
	telemetry_add(",\"priority\":%d,\"policy_us\":%llu,\"swap_free\":%u",
		      reclaim_worst_priority(), cycles_to_ns(policy_timer.cycles) / 1000,
		      swap_nr_free);
	if (swap_bdev)
		telemetry_add(
			",\"disk\":{\"queue\":%u,\"reads\":%llu,\"writes\":%llu,\"busy_us\":%llu,"
			"\"wait_us\":%llu}",
			swap_bdev->in_flight, swap_bdev->nr_reads, swap_bdev->nr_writes,
			swap_bdev->busy_ns / 1000, swap_bdev->wait_ns / 1000);
	telemetry_add(",\"vm\":{");
	for (int i = 0; i < NR_VM_EVENTS; i++)
		telemetry_add("%s\"%s\":%llu", i ? "," : "", vm_event_names[i], vm_events[i]);
	telemetry_add("}");
}

void sample_now(void)
{
	struct mm_struct *mm;
	bool first = true;

	for_each_mm(mm)
		if (mm->task)
			sample_mm(mm);
	if (!telemetry_on())
		return;
	telemetry_begin("sample");
	report_system();
	report_scheduler();
	report_policy();
	report_guard();
	telemetry_add(",\"procs\":[");
	for_each_mm(mm) {
		if (!mm->task)
			continue;
		report_process(mm, first);
		first = false;
	}
	telemetry_add("]");
	telemetry_end();
}

static bool may_sample(void)
{
	u64 now = clock_ns();

	return cost_ns * 100 <= (now - sched_idle_ns()) * sample_percent ||
	       now - last_ns >= now >> 6;
}

static void fire(struct timer *t)
{
	if (!may_sample()) {
		timer_start(t, clock_ns() + sample_ms * 1000000ull);
		return;
	}
	due = true;
	wake_up(&sample_wait);
}

static void ksampled(void *arg)
{
	u64 next = clock_ns();

	(void)arg;
	for (;;) {
		next = MAX(next + sample_ms * 1000000ull, clock_ns());
		timer_start(&sample_timer, next);
		wait_event_interruptible(&sample_wait, due);
		due = false;
		last_ns = clock_ns();
		sample_now();
		cost_ns += clock_ns() - last_ns;
	}
}

void sample_init(void)
{
	timer_setup(&sample_timer, fire, true);
	if (sample_ms)
		kthread_create("ksampled", -20, ksampled, NULL);
}
