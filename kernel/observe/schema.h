/*
 * The telemetry's schema: every record and every member of it, in the order in which they are sent.
 *
 *	M(type, name, kind, "unit", value, "meaning")
 *
 * type	  text, int, u32, u64, s64; padded: a u32 with blanks before it; or a part with its own members:
 *	  object   PART_NAME below lists them
 *	  objects  a list of such objects
 *	  rows     a list of lists: each has the values that PART_NAME names, in that order
 *	  numbers  a list of u64
 *	  counts   an object with variable names, each with a number
 * kind	  FACT     a name, or a constant value
 *	  LEVEL    the state at that time
 *	  COUNTER  grows from boot: take differences for an interval
 *	  PART     one of the parts; OPTIONAL: one that may be missing
 * unit	  "" for counts, and for values without a unit
 * value  a C expression; for a part, the call that sends it
 *
 * EMIT expands to the C statement that sends a member, so RECORD_EXIT(EMIT) sends a whole exit
 * record. From this file and observe/counters.h, tools/schema.py generates the tables of
 * docs/reference/telemetry.md and the types in tools/tidemark/telemetry/records.py: run it after a
 * change. A test fails if they are out of date.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

#include "observe/telemetry.h"

/* A new member needs no new number: readers skip unknown members. */
#define TELEMETRY_SCHEMA 2

#define EMIT(type, name, kind, unit, value, meaning) telemetry_##type(#name, value);
/* EMIT for the elements of a list, which have no names. */
#define EMIT_ELEMENT(type, name, kind, unit, value, meaning) telemetry_##type(NULL, value);

/* A part sends itself. */
#define telemetry_object(name, call) call
#define telemetry_objects(name, call) call
#define telemetry_rows(name, call) call
#define telemetry_numbers(name, call) call
#define telemetry_counts(name, call) call

/* clang-format off */

/* Members of every record. */
#define RECORD_ANY(M) \
	M(padded, seq, COUNTER, "",  seq++, "0, 1, 2, … without gaps") \
	M(u64,  t_us, LEVEL,   "µs", last_us, "machine time since boot") \
	M(text, ev,   FACT,    "",   ev, "which record this is")

/* Sent once, as the first record. */
#define RECORD_START(M) \
	M(u32,  schema,    FACT,  "",      TELEMETRY_SCHEMA, "version of this format") \
	M(text, kernel,    FACT,  "",      "tidemark", "`tidemark`") \
	M(text, policy,    FACT,  "",      vm_policy->name, "the policy at boot") \
	M(text, guard,     FACT,  "",      guard_name(), "the guard at boot; `none` when there is none") \
	M(u32,  jitter,    FACT,  "",      jitter, "`jitter=N` of the command line: which shifts of time this run has; 0: none") \
	M(text, cmdline,   FACT,  "",      boot_info.cmdline, "the kernel's command line") \
	M(u32,  page_size, FACT,  "bytes", PAGE_SIZE, "size of a page") \
	M(u32,  managed,   FACT,  "pages", nr_managed_pages(), "what the allocator manages") \
	M(u32,  free,      LEVEL, "pages", nr_free_pages(), "free now") \
	M(u32,  frames,    FACT,  "pages", frames_cap, "the cap on user frames; 0: none") \
	M(objects, zones,  PART,  "",      send_zones(), "for each zone, how much it has and its watermarks")

#define PART_ZONES(M) \
	M(text, name,    FACT, "",      z->name, "`DMA`, `Normal` or `HighMem`") \
	M(u32,  managed, FACT, "pages", z->managed, "what the allocator manages of it; 0: the zone is empty") \
	M(u32,  min,     FACT, "pages", z->watermark[WMARK_MIN], "under this, tasks free pages themselves") \
	M(u32,  low,     FACT, "pages", z->watermark[WMARK_LOW], "under this, kswapd begins to free pages") \
	M(u32,  high,    FACT, "pages", z->watermark[WMARK_HIGH], "from this on, kswapd has done enough")

/* A process has a new address space, by fork or by exec, and has not yet executed an instruction in it. */
#define RECORD_MM(M) \
	M(int,  pid,  FACT, "",      t->pid, "number of the process") \
	M(text, comm, FACT, "",      t->comm, "its name") \
	M(u32,  cr3,  FACT, "bytes", virt_to_phys(t->mm->pgd), \
	  "physical address of its page directory, what register CR3 holds while it runs. It names this " \
	  "process until its next `mm` or its `exit`; afterwards another may get the same directory")

/* Every `sample_ms` while anything runs, and one before power off. */
#define RECORD_SAMPLE(M) \
	M(u64, idle_us,   COUNTER, "µs", sched_idle_ns() / 1000, \
	  "time in which no process could run. Utilisation of an interval = 1 − Δidle_us / Δt_us") \
	M(u64, iowait_us, COUNTER, "µs", sched_iowait_ns() / 1000, \
	  "the part of `idle_us` in which a task waited for the disk") \
	M(u64, switches,  COUNTER, "", sched_nr_switches(), "task switches") \
	M(u32, running,   LEVEL,   "", sched_nr_running(), "tasks that can run") \
	M(u32, held,      LEVEL,   "", admission_nr_waiting(), "processes held back by `may_run`") \
	M(numbers, free,  LEVEL,   "pages", send_free(), "free pages of each zone") \
	M(numbers, owned, LEVEL,   "pages", send_owned(), "pages of each zone that the policy owns") \
	M(u32, isolated,  LEVEL,   "pages", vm_nr_isolated, "pages the core holds") \
	M(u32, writing,   LEVEL,   "pages", reclaim_nr_writing(), "isolated pages that are being written") \
	M(int, priority,  LEVEL,   "", reclaim_worst_priority(), \
	  "the lowest reclaim priority since the last sample: 12 calm, 0 desperate") \
	M(u64, policy_us, COUNTER, "µs", cycles_to_ns(policy_timer.cycles) / 1000, "time inside the policy's hooks") \
	M(u32, swap_free, LEVEL,   "slots", swap_nr_free, "free slots of the swap area") \
	M(object, disk,   OPTIONAL, "", send_disk(), "the swap disk; missing when there is none") \
	M(objects, block, OPTIONAL, "", send_disks(), \
	  "the disks, that of the swap area too; missing when there is none but that") \
	M(object, vm,     PART,    "", send_counters(), "event counters, also in `/proc/vmstat`") \
	M(u64, cost_us,   COUNTER, "µs", cost_ns / 1000, "time that the samples before this one have cost") \
	M(object, psi,    PART,    "", send_psi(), "memory pressure") \
	M(rows, rq,       PART,    "", send_queue(), "the scheduler's red-black tree, in order of vruntime") \
	M(counts, lists,  PART,    "", send_lists(), \
	  "what the policy shows in `/proc/vm/policy` ([policies.md](policies.md))") \
	M(object, guard,  OPTIONAL, "", send_guard(), \
	  "the guard, and what it shows in `/proc/vm/guard`; missing when there is none") \
	M(objects, procs, PART,    "", send_processes(), "the processes")

/* Every tenth of a second of machine time while anything runs, and one before power off: what a verdict
 * on the run needs, from exact counters. */
#define RECORD_PRESSURE(M) \
	M(u64, idle_us,  COUNTER, "µs", sched_idle_ns() / 1000, "as in a sample") \
	M(u64, full_us,  COUNTER, "µs", psi_full_ns() / 1000, \
	  "time in which processes waited for memory, and none was productive: `full_us` of `psi`") \
	M(u64, read,     COUNTER, "pages", pages_read(), "pages read, of swap and of files") \
	M(u64, evicted,  COUNTER, "pages", vm_events[VM_pgevict], "pages evicted") \
	M(u64, evicting_us, LEVEL, "µs", reclaim_first_eviction_ns() / 1000, \
	  "when the first page since the previous record was evicted; 0: none was") \
	M(u32, demand,   LEVEL, "pages", most.pages, \
	  "the largest total demand of the processes so far: the sum of their `mad`; small ones do not count") \
	M(u32, wanting,  LEVEL, "", most.processes, "the number of these processes") \
	M(u32, held,     LEVEL, "", admission_most_waiting(), \
	  "the largest number of processes that admission has held back at once so far") \
	M(u64, oom_kill, COUNTER, "", vm_events[VM_oom_kill], "processes killed for memory")

#define PART_DISK(M) \
	M(u32, queue,   LEVEL,   "", swap_bdev->count.in_flight, "requests not yet served") \
	M(u64, reads,   COUNTER, "", bdev_requests(swap_bdev, false), "requests that read") \
	M(u64, writes,  COUNTER, "", bdev_requests(swap_bdev, true), "requests that write") \
	M(u64, busy_us, COUNTER, "µs", bdev_busy_ns(swap_bdev) / 1000, "time serving") \
	M(u64, wait_us, COUNTER, "µs", bdev_wait_ns(swap_bdev) / 1000, \
	  "all requests' times from submission to end. Mean response = Δwait_us / Δ(reads + writes)")

#define PART_BLOCK(M) \
	M(text, name,    FACT,    "",   b->name, "its name in `/dev`") \
	M(u32, queue,    LEVEL,   "",   c->in_flight, "requests not yet served") \
	M(u64, busy_us,  COUNTER, "µs", bdev_busy_ns(b) / 1000, "time serving") \
	M(u64, wait_us,  COUNTER, "µs", bdev_wait_ns(b) / 1000, "all requests' times from submission to end") \
	M(u64, merged,   COUNTER, "", c->merged[BLOCK_READ] + c->merged[BLOCK_WRITE], \
	  "pieces of work that joined a waiting request") \
	M(u64, errors,   COUNTER, "", c->errors, "requests that failed") \
	M(u64, swap_reads,  COUNTER, "", c->requests[BIO_SWAP][BLOCK_READ], "requests that read, for swap") \
	M(u64, swap_writes, COUNTER, "", c->requests[BIO_SWAP][BLOCK_WRITE], "requests that write, for swap") \
	M(u64, data_reads,  COUNTER, "", c->requests[BIO_DATA][BLOCK_READ], "the same for the data of files") \
	M(u64, data_writes, COUNTER, "", c->requests[BIO_DATA][BLOCK_WRITE], "the same for the data of files") \
	M(u64, meta_reads,  COUNTER, "", c->requests[BIO_META][BLOCK_READ], \
	  "the same for the metadata of a file system, or a partition table") \
	M(u64, meta_writes, COUNTER, "", c->requests[BIO_META][BLOCK_WRITE], "the same; and flushes") \
	M(u64, sectors_read,    COUNTER, "sectors", bdev_sectors(b, false), "of 512 bytes") \
	M(u64, sectors_written, COUNTER, "sectors", bdev_sectors(b, true), "of 512 bytes")

#define PART_PSI(M) \
	M(u64, some_us, COUNTER, "µs", psi_some_ns() / 1000, "time in which at least one task was stalled for memory") \
	M(u64, full_us, COUNTER, "µs", psi_full_ns() / 1000, "the part of `some_us` in which no task was productive")

#define PART_RQ(M) \
	M(int, pid,      FACT,    "",   q->pid, "number of the task") \
	M(u64, vruntime, COUNTER, "ns", q->vruntime, "CPU time divided by weight") \
	M(int, black,    LEVEL,   "",   q->black, "colour of its node: 1 black, 0 red") \
	M(int, parent,   LEVEL,   "",   q->parent, "pid of its parent in the tree; 0: it is the root")

#define PART_GUARD(M) \
	M(text, name, FACT,    "",   guard_name(), "name of the guard; several with commas between them") \
	M(u64,  us,   COUNTER, "µs", cycles_to_ns(guard_timer.cycles) / 1000, "time inside its hooks")

#define PART_PROCS(M) \
	M(int,  pid,     FACT,    "", t->pid, "number") \
	M(text, comm,    FACT,    "", t->comm, "name") \
	M(int,  state,   LEVEL,   "", t->state, \
	  "0 runnable, 1 asleep, 2 asleep and not interruptible, 3 zombie") \
	M(u32,  mad,     LEVEL,   "pages", c->demand, \
	  "memory allocation demand: pages of anonymous and of private writable regions") \
	M(u32,  rss,     LEVEL,   "pages", mm_rss_pages(mm), "resident pages") \
	M(u32,  nap,     LEVEL,   "pages", c->nap, "pages accessed since the last sample") \
	M(u32,  wss,     LEVEL,   "pages", c->wss, \
	  "working-set size: anonymous pages used in the last `wss_tau_ms` (1000) of its virtual time, and " \
	  "file pages used since the last sample") \
	M(u32,  fresh,   LEVEL,   "pages", c->fresh, \
	  "of `nap`, the anonymous pages that were not used in the `wss_tau_ms` before") \
	M(u32,  phases,  COUNTER, "", c->nr_phases, \
	  "phases begun: samples with 16 fresh pages or more, a quarter of `nap` or more, after one without") \
	M(u32,  swap,    LEVEL,   "pages", c->swapents, "its page-table entries that name a swap slot") \
	M(u64,  minflt,  COUNTER, "", t->nr_minflt, "faults without a read that the process started") \
	M(u64,  majflt,  COUNTER, "", t->nr_majflt, "faults with such a read") \
	M(u64,  refault, COUNTER, "", c->nr_refault, \
	  "major faults on pages evicted so recently that memory could have kept them: no more evictions ago " \
	  "than there are frames") \
	M(u64,  user_us,     COUNTER, "µs", account_us(t, ACCT_USER), "running its own code") \
	M(u64,  kernel_us,   COUNTER, "µs", account_us(t, ACCT_KERNEL), "the kernel at work for it") \
	M(u64,  ready_us,    COUNTER, "µs", account_us(t, ACCT_READY), "it could run, but another task runs") \
	M(u64,  pagewait_us, COUNTER, "µs", account_us(t, ACCT_PAGEWAIT), "waiting for a page or a frame") \
	M(u64,  admit_us,    COUNTER, "µs", account_us(t, ACCT_ADMIT), "held back by `may_run`") \
	M(u64,  sleep_us,    COUNTER, "µs", account_us(t, ACCT_SLEEP), "asleep for any other reason") \
	M(int,  nice,        LEVEL,   "", t->nice, "nice value") \
	M(u64,  vruntime,    COUNTER, "ns", t->se.vruntime, "CPU time divided by weight: what CFS sorts by")

/* A process has ended (init excepted). */
#define RECORD_EXIT(M) \
	M(int,  pid,            FACT, "", r->pid, "number of the process") \
	M(text, comm,           FACT, "", r->comm, "its name") \
	M(int,  status,         FACT, "", r->exit_code, \
	  "as `wait4` gives it: exit status × 256, or the signal") \
	M(u64,  turnaround_us,  FACT, "µs", r->turnaround_ns / 1000, "from creation to end") \
	M(u64,  minflt,         FACT, "", r->minflt, "faults without a read that the process started") \
	M(u64,  majflt,         FACT, "", r->majflt, "faults with such a read") \
	M(u64,  refault,        FACT, "", t->mm->count.nr_refault, "major faults on pages evicted recently") \
	M(u32,  mean_rss,       FACT, "pages", r->mean_rss, "mean resident set over its life") \
	M(u32,  max_rss,        FACT, "pages", r->max_rss, "its largest resident set") \
	M(u64,  c_b,            FACT, "page-ms", r->c_b, "space-time C_B, formulas below") \
	M(u64,  c_d,            FACT, "page-ms", r->c_d, "space-time C_D") \
	M(u64,  c_d_approx,     FACT, "page-ms", r->c_d_approx, "C_D approximately") \
	M(s64,  delta,          FACT, "page-ms", r->delta, "Δ = C_B − C_D") \
	M(u64,  housekeeping,   FACT, "page-µs", r->housekeeping, "Γ, space-time of the kernel's work") \
	M(u64,  fault_delay_us, FACT, "µs", cycles_to_ns(a->major.cycles) / 1000, \
	  "Σ of the waits of its major faults") \
	M(u64,  fault_rss,      FACT, "pages", a->major_rss, "Σ of RSS over its major faults") \
	M(numbers, us,          FACT, "µs", send_times(a), \
	  "time by account: user, kernel, ready, pagewait, admit, sleep") \
	M(numbers, page_ms,     FACT, "page-ms", send_space(a), "space-time by account") \
	M(u64,  minor_delay_us, FACT, "µs", cycles_to_ns(a->minor.cycles) / 1000, \
	  "Σ of the waits of its minor faults") \
	M(object, delta_terms,  PART, "", send_terms(r), "the terms whose sum is `delta`")

#define PART_DELTA_TERMS(M) \
	M(s64, rss_change, FACT, "page-ms", r->terms[TERM_RSS_CHANGE], \
	  "waits of major faults with RSS as it was during the wait, less the same with RSS as the fault began") \
	M(s64, housekeeping, FACT, "page-ms", r->terms[TERM_HOUSEKEEPING], "Γ: the kernel at work for it") \
	M(s64, ready, FACT, "page-ms", r->terms[TERM_READY], "it could run, another task did") \
	M(s64, minor_wait, FACT, "page-ms", r->terms[TERM_MINOR_WAIT], \
	  "waits of minor faults: for a frame, or for a page that is being read or written already") \
	M(s64, other_wait, FACT, "page-ms", r->terms[TERM_OTHER_WAIT], "waits of system calls for pages and frames") \
	M(s64, admission, FACT, "page-ms", r->terms[TERM_ADMISSION], "held back by `may_run`") \
	M(s64, sleep, FACT, "page-ms", r->terms[TERM_SLEEP], "asleep for any other reason")

/* Another policy has taken over. */
#define RECORD_POLICY(M) \
	M(text, name, FACT, "", name, "name of the new policy")

/* A policy or a guard broke a rule. */
#define RECORD_VIOLATION(M) \
	M(text, policy, OPTIONAL, "", culprit(v, "policy"), "the policy that did, if it was one") \
	M(text, guard,  OPTIONAL, "", culprit(v, "guard"), "the guard that did, if it was one") \
	M(text, rule,   FACT,     "", v->rule, "the rule") \
	M(text, what,   FACT,     "", v->what, "what happened")

/* A process was killed for memory. */
#define RECORD_OOM(M) \
	M(int,  pid,      FACT,  "",      t->pid, "number of the process") \
	M(text, comm,     FACT,  "",      t->comm, "its name") \
	M(u32,  rss,      LEVEL, "pages", mm_rss_pages(t->mm), "its resident pages") \
	M(u32,  swapents, LEVEL, "slots", c->swapents, "what it had in swap") \
	M(u32,  ptes,     LEVEL, "pages", c->ptes, "its page tables")

/* At power off, with `profile_hz=`: where the profiler's ticks fell. */
#define RECORD_PROFILE(M) \
	M(u32, hz,    FACT, "Hz", profile_hz, "instants a second of machine time, from boot on") \
	M(u32, ticks, FACT, "",   ticks, "all that were counted; the same in every record") \
	M(counts, functions, PART, "", send_functions(&next), \
	  "ticks of each kernel function that was hit, and of `user` and `idle`")

/* The last record, written once, and only with `run=`. */
#define RECORD_END(M) \
	M(int, status, FACT, "", status, "the run's status")

/* clang-format on */

#endif
