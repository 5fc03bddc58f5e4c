/*
 * Event counters since boot, with Linux's names where Linux has them. To add a counter, add a line
 * here and a stat_count(name) where the event happens. It then appears in /proc/vmstat, in the
 * telemetry and, after tools/schema.py, in docs/reference/telemetry.md.
 */
#ifndef OBSERVE_COUNTERS_H
#define OBSERVE_COUNTERS_H

/* clang-format off */
#define COUNTERS(X) \
	X(pgalloc,            "frames allocated") \
	X(pgfree,             "frames freed") \
	X(pgfault,            "page faults served: the sum of all processes' `minflt` and `majflt`") \
	X(pgmajfault,         "page faults that started a read") \
	X(pgreuse,            "copy-on-write faults that needed no copy") \
	X(pswpin,             "pages read from swap") \
	X(pswpout,            "pages written to swap") \
	X(pgscan_kswapd,      "pages policies looked at, for kernel threads") \
	X(pgscan_direct,      "pages policies looked at, for tasks themselves") \
	X(pgsteal_kswapd,     "frames freed by kernel threads") \
	X(pgsteal_direct,     "frames freed by tasks themselves") \
	X(pgevict,            "pages evicted") \
	X(pgrescued,          "pages used again while they were being evicted") \
	X(pgdetach,           "pages detached") \
	X(pglaunder,          "pages laundered") \
	X(pgtrim,             "pages taken because `surplus` counted them") \
	X(allocstall,         "times a task had to reclaim for itself") \
	X(kswapd_wake,        "wake-ups of kswapd") \
	X(swap_ra,            "pages read ahead") \
	X(swap_ra_hit,        "pages read ahead and asked for later") \
	X(workingset_refault, "all processes' refaults") \
	X(workingset_refault_file, "pages of files brought in again that were evicted not long ago") \
	X(file_ra,            "pages of files read ahead") \
	X(file_ra_hit,        "pages of files read ahead and asked for later") \
	X(pgpgin,             "KiB of files and metadata read from devices") \
	X(pgpgout,            "KiB of files and metadata written to devices") \
	X(oom_kill,           "processes killed for memory") \
	X(swap_read_error,    "failed reads of swap") \
	X(swap_write_error,   "failed writes of swap") \
	X(admission_wait,     "times a process had to wait for admission") \
	X(policy_violation,   "broken rules")
/* clang-format on */

#endif
