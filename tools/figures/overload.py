#!/usr/bin/env python3
"""Measure the overload factor: N jobs together over the sum of their times alone, for policies and guards.

1 is a perfect batch system. These jobs fill everything before they work, so each has to be written out and read
back at least once. Five jitters each: the median, and the range in brackets.
"""

from __future__ import annotations

import re
from statistics import mean, median

from common import host, in_parallel, measure, publish, table

N, JITTERS = 10, 5
JOB, MACHINE = "thrash {n} 4096 6 3000", {"mem": "16M", "swap": "sim:hdd"}
COMBINATIONS = [
    *((policy, "none") for policy in ("fifo", "clock", "2q", "ws")),
    *(("2q", guard) for guard in ("token", "loadctl", "serialize")),
    ("clock", "serialize"),
]


def alone_s() -> float:
    """One job on an empty machine, from its start to its end."""
    (ended,) = (
        record
        for record in measure(JOB.format(n=1), telemetry=True, vm="2q", **MACHINE).records("exit")
        if record["us"][0] > 1000
    )
    return ended["turnaround_us"] / 1e6


def together(case: tuple[str, str, int]) -> tuple[float, float]:
    """(s from the start to the last end, the worst turnaround over the mean) of N jobs."""
    policy, guard, jitter = case
    cmdline = f"guard={guard} jitter={jitter}"
    run = measure(JOB.format(n=N), telemetry=True, vm=policy, cmdline=cmdline, timeout=1200, **MACHINE)
    ends = [record["turnaround_us"] / 1e6 for record in run.records("exit") if record["us"][0] > 1000]
    total = re.search(r"total_us=(\d+)", run.console)
    assert total, run.console
    return int(total[1]) / 1e6, max(ends) / mean(ends)


def spread(values: list[float]) -> str:
    """Median and range."""
    return f"{median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def main() -> None:
    alone = alone_s()
    cases = [(*combination, jitter) for combination in COMBINATIONS for jitter in range(JITTERS)]
    found = dict(zip(cases, in_parallel(together, cases)))
    rows = []
    for combination in COMBINATIONS:
        runs = [found[(*combination, jitter)] for jitter in range(JITTERS)]
        rows.append(
            (*combination, spread([total / (N * alone) for total, _ in runs]), spread([worst for _, worst in runs]))
        )
    text = table(("policy", "guard", "overload factor", "worst turnaround / mean"), rows, text_columns=2)
    run = f'`make qemu RUN="{JOB.format(n=N)}" MEM=16M VM=... CMDLINE=guard=...`; one alone takes {alone:.3f} s'
    publish("overload", f"{run}; {host()}.\n\n{text}")


if __name__ == "__main__":
    main()
