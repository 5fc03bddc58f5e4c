#!/usr/bin/env python3
"""The thrashing curve: 1 to 10 processes that cycle over private arrays, in fixed memory, under each policy.

All numbers come from the summary at the end of a run. Useful: the processes' time in user mode as a share of all time.
Throughput: rounds over an array per second, of all processes together.
"""

from __future__ import annotations

import argparse

from common import Outcome, in_parallel, measure, publish, table

MEM = "24M"
KB, ROUNDS, WORK = 8192, 10, 12000
# A sample clears accessed bits and writes a line; nothing here reads it, so one per second is enough.
CMDLINE = "sample_ms=1000"
PROCESSES = range(1, 11)
SHOWN_FIRST = ("2q", "ws")
OTHERS = ("clock", "fifo")


def command(nr: int) -> str:
    return f"thrash {nr} {KB} {ROUNDS} {WORK}"


def run_one(case: tuple[int, str]) -> Outcome:
    """Runs (number of processes, policy)."""
    nr, policy = case
    return measure(command(nr), vm=policy, mem=MEM, cmdline=CMDLINE)


def compared(points: dict[tuple[int, str], Outcome], policies: tuple[str, ...]) -> str:
    """A row for each number of processes, with columns for each policy."""
    titles = ["processes", "demand MiB"]
    for policy in policies:
        titles += [f"{policy}: utilisation %", "useful %", "rounds/s", "total s", "major faults"]
        titles += ["waits"] if policy == "ws" else []
    rows = []
    for nr in PROCESSES:
        row: list[object] = [nr, nr * KB // 1024]
        for policy in policies:
            p = points[nr, policy]
            rounds_per_s = nr * ROUNDS / p.total_s
            row += [p.utilisation, p.useful, f"{rounds_per_s:.2f}", f"{p.total_s:.1f}", f"{p.major_faults:,}"]
            row += [int(p.number(r"(\d+) waits for admission"))] if policy == "ws" else []
        rows.append(row)
    return table(titles, rows, text_columns=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="also clock and fifo, which take twice as long")
    policies = SHOWN_FIRST + (OTHERS if parser.parse_args().all else ())
    cases = [(nr, policy) for nr in reversed(PROCESSES) for policy in policies]
    points = dict(zip(cases, in_parallel(run_one, cases)))
    how = f'`make qemu RUN="{command(0).replace(" 0 ", " N ")}" MEM={MEM} SWAP=sim:hdd CMDLINE={CMDLINE} VM=...`'
    publish("thrashing", f"{how}\n\n{compared(points, SHOWN_FIRST)}")
    if policies != SHOWN_FIRST:
        publish("thrashing-others", f"{how}\n\n{compared(points, OTHERS)}")


if __name__ == "__main__":
    main()
