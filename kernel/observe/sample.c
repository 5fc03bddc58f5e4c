/*
 * Sampling: every sample_ms of machine time one telemetry line with the needs, resources and use of
 * each process, and the state of the system.
 *
 * NAP, the number of accessed pages, comes from the accessed bits: those set since the last sample
 * are counted and cleared, and the use is recorded for the policy (mm/space/young.c). WSS is the
 * number of anonymous pages used in the last wss_tau_ms of the process's virtual time, at this
 * resolution, and of file pages used in the last interval.
 *
 * Phases: between two changes of locality a process uses pages that are in its working set already.
 * So the anonymous pages used since the last sample that were not used in wss_tau_ms before it, the
 * fresh ones, tell a change. A new phase begins when they are a quarter of the pages used. Not a
 * half: an interval with a change in it may see both localities whole. The intervals that follow
 * with as many fresh pages belong to the same change. An evicted page is fresh when it comes back,
 * so where memory is short a change and a lack of frames look alike. (A. McMenamin asks for such a
 * detector, and proposes the size of the working set, which grows at a change because the window
 * holds both localities. docs/reference/figures.md compares the two.)
 *
 * A sample does not change the run: it is taken at a quiet moment (sched/still.c), and in an exact
 * run the clock stands still meanwhile. The machine is not woken to be sampled: an idle machine has
 * nothing to report, and the sample comes with the next timer interrupt.
 *
 * But a sample costs the host ten to a hundred thousand instructions, possibly more than a
 * thrashing machine executes in sample_ms. So samples are delayed while they cost more than
 * sample_percent of what the processor has executed, but for no longer than 1/64 of the time since
 * boot, so that a timeline has enough points even while all tasks only wait. A process that has not
 * run since the last sample has used nothing, and its page table is not walked.
 */
#include "drivers/block.h"
#include "lib/list.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/seq_file.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/control.h"
#include "mm/guard_core.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/swap.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "observe/events.h"
#include "sched/current.h"
#include "schema.h"

static u32 sample_ms = 100, sample_percent = 1, wss_tau_ms = 1000;
PARAM_U32("sample_ms", sample_ms, 0, 10000, "ms", "time between samples; 0: none", AT_BOOT);
PARAM_U32("sample_percent", sample_percent, 1, 100, "%",
	  "of the processor's work, what samples may cost; 100: no limit");
PARAM_U32("wss_tau_ms", wss_tau_ms, 1, 60000, "ms", "window of the measured working-set size");

static u64 due_ns, last_ns; /* the next sample and the last one */
static u64 cost_ns, spent_ns; /* cost of all samples; the part that took machine time */

enum { MIN_FRESH = 16, FRESH_SHARE = 4 }; /* a new phase: at least 16 fresh pages, and 1/4 of NAP */

/* The numbers shown by a policy or a guard; numbers that do not fit are left out. */
struct shown {
	struct seq_file m;
	u32 nr;
	struct {
		char name[32];
		u64 value;
	} numbers[32];
};

static struct shown by_policy, by_guard;

struct scan {
	struct mm_struct *mm;
	u32 now_ms; /* virtual time */
	u32 nap, wss, fresh;
};

static bool in_working_set(const struct page *page, const struct scan *s)
{
	return page->used_vt && s->now_ms + 1 - page->used_vt <= wss_tau_ms;
}

static void sample_entry(pte_t *pte, struct scan *s)
{
	struct page *page = pfn_page(pte_pfn(*pte));
	bool used = pte_accessed(*pte), anon = page_test(page, PG_anon);

	if (is_zero_page(page))
		return;
	if (used)
		*pte = pte_take_use(*pte);
	if (anon && page_test_and_clear(page, PG_sampled))
		used = true;
	if (used && anon) {
		s->fresh += !in_working_set(page, s);
		page->used_vt = s->now_ms + 1; /* 0: never seen used */
	}
	s->nap += used;
	if (anon)
		s->wss += in_working_set(page, s);
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

/* Counts a new phase if this interval begins a change of locality. */
static void note_phase(struct mm_counters *c, const struct scan *s)
{
	bool changing = s->fresh >= MIN_FRESH && s->fresh * FRESH_SHARE >= s->nap;

	c->nr_phases += changing && !c->changing;
	c->changing = changing;
}

static void sample_mm(struct mm_struct *mm)
{
	struct scan s = { .mm = mm, .now_ms = mm_vtime(mm) / 1000000 };
	const struct acct_clock *a = &mm->task->acct;
	u64 ran = acct_cycles(a, ACCT_USER, 0) + acct_cycles(a, ACCT_KERNEL, clock_cycles());
	struct vm_area_struct *vma;

	mm->count.nap = mm->count.fresh = 0;
	if (mm->count.sampled_cycles == ran)
		return;
	mm->count.sampled_cycles = ran;
	list_for_each_entry(vma, &mm->vma_list, list)
		sample_region(vma, &s);
	tlb_flush_all(mm->pgd);
	mm->count.nap = s.nap;
	mm->count.wss = s.wss;
	mm->count.fresh = s.fresh;
	note_phase(&mm->count, &s);
}

static u64 account_us(const struct task_struct *t, enum acct a)
{
	return cycles_to_ns(acct_cycles(&t->acct, a, clock_cycles())) / 1000;
}

static void send_queued(const struct queued_task *q)
{
	telemetry_open(NULL, '[');
	PART_RQ(EMIT_ELEMENT);
	telemetry_close(']');
}

static void send_queue(void)
{
	telemetry_open("rq", '[');
	sched_for_each_queued(send_queued);
	telemetry_close(']');
}

static void send_psi(void)
{
	telemetry_open("psi", '{');
	PART_PSI(EMIT);
	telemetry_close('}');
}

static void send_process(struct mm_struct *mm)
{
	struct task_struct *t = mm->task;
	const struct mm_counters *c = &mm->count;

	telemetry_open(NULL, '{');
	PART_PROCS(EMIT);
	telemetry_close('}');
}

static void send_processes(void)
{
	struct mm_struct *mm;

	telemetry_open("procs", '[');
	for_each_mm(mm)
		if (mm->task)
			send_process(mm);
	telemetry_close(']');
}

static void send_free(void)
{
	telemetry_open("free", '[');
	for (int i = 0; i < MAX_ZONES; i++)
		telemetry_u32(NULL, zones[i].nr_free);
	telemetry_close(']');
}

static void send_owned(void)
{
	telemetry_open("owned", '[');
	for (int i = 0; i < MAX_ZONES; i++)
		telemetry_u32(NULL, zones[i].nr_owned);
	telemetry_close(']');
}

static void send_disk(void)
{
	if (!swap_bdev)
		return;
	telemetry_open("disk", '{');
	PART_DISK(EMIT);
	telemetry_close('}');
}

static void send_block(const struct block_device *b)
{
	const struct block_counts *c = &b->count;

	telemetry_open(NULL, '{');
	PART_BLOCK(EMIT);
	telemetry_close('}');
}

/* Sends the counters of each disk, unless the only disk has the swap area: then `disk` has them. */
static void send_disks(void)
{
	struct block_device *b = bdev_next(NULL);

	if (!b || (b == swap_bdev && !bdev_next(b)))
		return;
	telemetry_open("block", '[');
	for (; b; b = bdev_next(b))
		if (bdev_is_disk(b))
			send_block(b);
	telemetry_close(']');
}

static void send_counters(void)
{
	telemetry_open("vm", '{');
	for (int i = 0; i < NR_VM_EVENTS; i++)
		telemetry_u64(vm_event_names[i], vm_events[i]);
	telemetry_close('}');
}

static void note_number(struct seq_file *m, const char *name, u64 value)
{
	struct shown *s = container_of(m, struct shown, m);

	if (s->nr == ARRAY_SIZE(s->numbers))
		return;
	if (s == &by_guard && vm_nr_guards > 1) /* two guards may use the same name */
		snprintf(s->numbers[s->nr].name, sizeof(s->numbers[s->nr].name), "%s.%s",
			 vm_guards[vm_guard_asked]->name, name);
	else
		strlcpy(s->numbers[s->nr].name, name, sizeof(s->numbers[s->nr].name));
	s->numbers[s->nr++].value = value;
}

static void send_shown(const struct shown *s)
{
	for (u32 i = 0; i < s->nr; i++)
		telemetry_u64(s->numbers[i].name, s->numbers[i].value);
}

static void send_lists(void)
{
	telemetry_open("lists", '{');
	send_shown(&by_policy);
	telemetry_close('}');
}

static void send_guard(void)
{
	if (!vm_nr_guards)
		return;
	telemetry_open("guard", '{');
	PART_GUARD(EMIT);
	send_shown(&by_guard);
	telemetry_close('}');
}

static void ask(struct shown *s, void (*show)(struct seq_file *m))
{
	s->m = (struct seq_file){ .number = note_number };
	s->nr = 0;
	show(&s->m);
}

void sample_now(void)
{
	struct mm_struct *mm;

	for_each_mm(mm)
		if (mm->task)
			sample_mm(mm);
	if (!telemetry_on())
		return;
	/* Before the record: if a show hook breaks a rule, that is a separate record. */
	ask(&by_policy, policy_call_show);
	ask(&by_guard, guard_call_show);
	telemetry_begin("sample");
	RECORD_SAMPLE(EMIT);
	telemetry_end();
}

static bool may_sample(u64 now)
{
	u64 work_ns = now - sched_idle_ns() - spent_ns + cost_ns; /* samples included */

	return cost_ns * 100 <= work_ns * sample_percent || now - last_ns >= now >> 6;
}

static void quiet(void *unused)
{
	u64 now = clock_ns(), cycles = cycles_now();

	(void)unused;
	if (!sample_ms || now < due_ns)
		return;
	due_ns = MAX(due_ns + sample_ms * 1000000ull, now);
	if (!may_sample(now))
		return;
	last_ns = now;
	sample_now();
	cost_ns += cycles_to_ns(cycles_now() - cycles);
	spent_ns += clock_ns() - now;
}

static void sample_init(void)
{
	due_ns = clock_ns() + sample_ms * 1000000ull;
	listen_quiet(quiet);
}

AT_STAGE(parts, 20, sample_init);

AT_STAGE(report, 10, sample_now);
