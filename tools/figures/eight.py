#!/usr/bin/env python3
"""Every workload in a machine of 8 MiB: it must end successfully, with its data intact."""

from __future__ import annotations

from common import Outcome, in_parallel, measure, publish, table

MEM = "8M"
POLICIES = ("2q", "ws")
COMMANDS = (
    "thrash 4 1024 10 300",
    "thrash 8 4096 2 300",
    "seqscan 16384 3",
    "seqscan 16384 3 w",
    "phase 16384 2048 10 5000",
    "pattern zipf 16384 2000",
    "pattern correlated 16384 2000",
    "pattern scan 16384 2000",
    "btree 16384 5000",
    "server 512 16384 1000",
    "cow 4 4096 4000",
    "grow 16384 3",
    "interactive 256 100 thrash 4 2048 3 300",
    "hog 24576 1",
    "refstring --repeat 3 1-3000",
)


def run_one(case: tuple[str, str]) -> Outcome:
    """Runs (command, policy); a run that fails ends the script."""
    return measure(case[0], vm=case[1], mem=MEM, cmdline="sample_ms=1000")


def row(case: tuple[str, str], one: Outcome) -> list[object]:
    """One line of the table."""
    return [
        f"`{case[0]}`",
        case[1],
        f"{one.total_s:.3f}",
        one.utilisation,
        f"{one.major_faults:,}",
        int(one.number(r"(\d+) killed for memory")),
    ]


def main() -> None:
    free = measure("free", mem=MEM)
    cases = [(command, policy) for command in COMMANDS for policy in POLICIES]
    rows = [row(case, one) for case, one in zip(cases, in_parallel(run_one, cases))]
    titles = ["workload", "policy", "virtual s", "utilisation %", "major faults", "killed for memory"]
    at_boot = free.number(r"managed, (\d+) KiB free")
    at_prompt = free.number(r"^Mem: .* (\d+)$")
    publish(
        "eight",
        f'`make qemu MEM={MEM} SWAP=sim:hdd VM=... RUN="..."`; {at_boot:,.0f} KiB are free after boot, '
        f"{at_prompt:,.0f} KiB available to programs at the prompt. Every run below ended with status 0, its data "
        "intact.\n\n" + table(titles, rows, text_columns=2),
    )


if __name__ == "__main__":
    main()
