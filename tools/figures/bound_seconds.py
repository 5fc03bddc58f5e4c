"""The proven least time of strings of one process, beside the fastest run of every policy and several read-aheads.

Each program is recorded once, in memory where nothing is evicted; tidemark.strings.least_time has the bounds and their
proof. Then it runs under every policy of the tree that needs no future, with each page cluster. A run that takes less
than its bound ends the figure with an error.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from tidemark.errors import FAILED, LabError
from tidemark.machine import qemu
from tidemark.runs.bound import disk_of
from tidemark.strings import foresight, least_time, vmsim
from tidemark.strings.least_time import LeastTime
from tidemark.trace import policy_strings
from tidemark.trace.record import record

from figures.common import Outcome, in_parallel, measure, table
from figures.entries import Figure

MEM, IDEAL, TIMEOUT = "6M", "64M", 600
CLUSTERS = (0, 5)
SCANS = ("seqscan 12288 3", "seqscan 12288 3 w", "thrash 1 12288 3", "pattern scan 6144 8000")
WORKING = ("pattern zipf 6144 3000 8000", "pattern correlated 6144 3000 8000")
RANDOM = "phase 6144 2048 3 4000"
CASES = [
    *((command, "sim:ssd") for command in (*SCANS, *WORKING, RANDOM)),
    *((command, "sim:hdd") for command in SCANS[:2]),
]
Run = tuple[str, int]  # policy, page cluster


def least_of(command: str, frames: int, console: str) -> tuple[LeastTime, bool]:
    """(bounds of a program with this number of frames on the disk that the console names, is its process alone?)"""
    settings = qemu.Settings(run=command, mem=IDEAL, swap="sim:ssd", timeout=TIMEOUT)
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as scratch:
        recording = record(settings, Path(scratch, "run"), kinds="data", notes=True)
        main, _, alone = foresight.main_space(recording)
        space = policy_strings.spaces_of(recording, foresight.DIRECT_MAP)[main]
        return least_time.of_recording(recording, main, space, frames, disk_of(console)), alone


def settings_of(command: str, swap: str, run: Run) -> qemu.Settings:
    vm, cluster = run
    cmdline = f"vm.page_cluster={cluster}"
    return qemu.Settings(run=command, swap=swap, vm=vm, mem=MEM, cmdline=cmdline, timeout=TIMEOUT)


def measured(settings: qemu.Settings) -> Outcome:
    names = ("swap", "vm", "mem", "cmdline", "timeout")
    return measure(settings.run, telemetry=True, **{name: getattr(settings, name) for name in names})


def row(command: str, swap: str, runs: Sequence[Run]) -> list[object]:
    """A row of the table; the ratio is over the larger bound that holds for the fastest run. Raises LabError if a run
    takes less than its bound."""
    outcomes = in_parallel(lambda run: measured(settings_of(command, swap, run)), runs)
    least, alone = least_of(command, outcomes[0].records("start")[0]["free"], outcomes[0].console)
    took = {run: max(end["turnaround_us"] for end in one.records("exit")) / 1e6 for run, one in zip(runs, outcomes)}
    over = {run: took[run] / least_time.seconds(least, settings_of(command, swap, run), alone) for run in runs}
    if min(over.values()) < 1:
        raise LabError(f"{command} on {swap}: {over}, less than is proven: {least}", FAILED)
    fastest = min(runs, key=lambda run: took[run])
    on_demand = f"{1000 * least.on_demand_s:,.1f}" if alone else "-"
    return [
        f"`{command}`",
        f"`{swap}`",
        f"`{fastest[0]}`, {fastest[1]}",
        f"{least.reads:,}",
        f"{least.writes:,}",
        f"{1000 * least.compute_s:,.1f}",
        f"{1000 * least.any_order_s:,.1f}",
        on_demand,
        f"{1000 * took[fastest]:,.1f}",
        f"{over[fastest]:.2f}",
    ]


def make(figure: Figure, work: Path) -> str:
    policies = [name for name in vmsim.policies() if name not in vmsim.WITH_FUTURE]
    runs = [(policy, cluster) for policy in policies for cluster in CLUSTERS]
    rows = in_parallel(lambda case: row(*case, runs), CASES)
    clusters = ", ".join(map(str, CLUSTERS))
    titles = ["program", "disk", "fastest: policy, page cluster", "pages read at least", "pages written at least"]
    titles += [f"{name}, ms" for name in ("own instructions", "least, any order", "least, reads on demand", "fastest")]
    how = f'`make qemu MEM={MEM} RUN="..." SWAP=... VM=... CMDLINE=vm.page_cluster=...`'
    tried = f"{len(policies)} policies with page clusters of {clusters}"
    return f"{how}; {tried}.\n\n{table([*titles, 'fastest / least'], rows, text_columns=3)}"
