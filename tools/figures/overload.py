"""Measure the overload factor: the time of N jobs together over the sum of their times alone, for policies and guards.

1 is a perfect batch system. These jobs fill all their memory before they work, so each has to be written out and read
back at least once: tidemark.runs.bound computes the least time for that. Then the same jobs run again with an
interactive process, which wakes every second, or every five. Five replicates each (tidemark.runs.replicates): the
median, and the range in brackets.
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean

from tidemark.runs import replicates

from figures.common import Outcome, host, in_parallel, spread, table
from figures.entries import Figure
from figures.family import batch_and_least, run_of, turnarounds

N, SET_KIB, REPLICATES = 10, 4096, range(1, 6)
JOB = f"thrash {N} {{size:{SET_KIB}}} 6 3000"
BESIDE, SLEEPS_MS = f"interactive 512 MS {JOB}", (1000, 5000)
COMBINATIONS = [
    *((policy, "none") for policy in ("fifo", "clock", "2q", "ws")),
    *(("2q", guard) for guard in ("token", "loadctl", "serialize")),
    ("clock", "serialize"),
]
Case = tuple[str, str, int]  # policy, guard, replicate


def measured(case: Case) -> list[float]:
    """For the jobs: seconds from the start to the last end, and the worst turnaround over the mean. Then for each sleep
    of the interactive process, the median and the worst of its times, in ms."""
    policy, guard, replicate = case

    def run(command: str) -> Outcome:
        return run_of(command, {}, (policy, guard), replicate)

    jobs = run(JOB)
    ends = [seconds for _, seconds in turnarounds(jobs)]
    found = [jobs.number(r" total_us=(\d+)") / 1e6, max(ends) / mean(ends)]
    for sleep_ms in SLEEPS_MS:
        beside = run(BESIDE.replace("MS", str(sleep_ms)))
        found += [beside.number(rf"^R interactive_wake .* {key}=([\d.]+)") / 1000 for key in ("med", "max")]
    return found


def make(figure: Figure, work: Path) -> str:
    batch, least = batch_and_least(N, SET_KIB)
    cases = [(*combination, replicate) for combination in COMBINATIONS for replicate in REPLICATES]
    found = dict(zip(cases, in_parallel(measured, cases)))
    rows = []
    for combination in COMBINATIONS:
        totals, *others = zip(*(found[(*combination, replicate)] for replicate in REPLICATES))
        rows.append((*combination, *map(spread, ([total / batch.alone_s for total in totals], *others))))
    together, by_turns = least.together_s / batch.alone_s, least.by_turns_s / batch.alone_s
    wakes = [f"wakes every {ms // 1000} s: {which} ms" for ms in SLEEPS_MS for which in ("median", "worst")]
    titles = ("policy", "guard", f"overload factor, least possible {together:.1f}", "worst turnaround / mean", *wakes)
    job, beside = replicates.nominal(JOB), replicates.nominal(BESIDE)
    commands = f'`make qemu RUN="{job}" MEM=16M VM=... CMDLINE=guard=...`, and `RUN="{beside}"`'
    times = (
        f"one alone takes {batch.alone_s / N:.3f} s. The least possible factor is {together:.2f}, or {by_turns:.2f} "
        "where the disk and the processor take turns"
    )
    return f"{commands}; {times}; {host()}.\n\n{table(titles, rows, text_columns=2)}"
