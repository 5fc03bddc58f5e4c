"""The cost of recording: host time per load or store of a program, with the trace packed and written as in real use.

Each run is made alternately with and without the plugin, REPEATS times, and the medians are compared: QEMU's time from
start to end, which includes all waiting for the packing on the other core, and the processor time of QEMU and the
packing together. Telemetry and console must be byte for byte the same.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.machine import qemu
from tidemark.runs import experiment, results
from tidemark.trace.record import KINDS, record

from figures.common import host, table
from figures.entries import Figure

REPEATS = 3
SETTINGS = qemu.Settings(vm="2q", mem="64M", swap="sim:hdd")
COMMANDS = (
    ("thrash 4 4096 20 300", {}),
    ("seqscan 16384 3000", {}),
    ("phase 4096 1024 40 200000", {}),
    ("thrash 6 4096 3 300", {"vm": "ws", "mem": "16M"}),
)


@dataclass(frozen=True)
class Cost:
    """Seconds of host time: QEMU's wall time, and all processor time."""

    wall_s: float
    cpu_s: float


def cpu_s() -> float:
    """Processor time so far of this process and of its children that have ended."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def measured(run: object) -> tuple[object, results.Result, Cost]:
    """The value that `run` returns, its result, and its cost."""
    before = cpu_s()
    made = run()
    result = getattr(made, "result", made)
    experiment.demand_success(result)
    return made, result, Cost(result.meta["wall_s"], cpu_s() - before)


def same_bytes(one: results.Result, other: results.Result) -> bool:
    """Are telemetry and console byte for byte the same?"""
    return all((one.folder / name).read_bytes() == (other.folder / name).read_bytes() for name in results.RAW)


def median(costs: list[Cost]) -> Cost:
    """The median of each."""
    return Cost(statistics.median(c.wall_s for c in costs), statistics.median(c.cpu_s for c in costs))


def row(settings: qemu.Settings, kinds: str, folder: Path) -> list[object]:
    """One line of the table."""
    plain, recorded, same = [], [], True
    for nr in range(REPEATS):
        _, without, cost = measured(lambda at=folder / f"{nr}-plain": experiment.run(settings, at))
        plain.append(cost)
        made, with_plugin, cost = measured(lambda at=folder / f"{nr}-recorded": record(settings, at, kinds=kinds))
        recorded.append(cost)
        same = same and same_bytes(without, with_plugin)
    totals, size = made.totals, made.trace.stat().st_size
    references = totals["references"] - totals["kinds"]["instruction"]
    before, after = median(plain), median(recorded)
    return [
        f"`{settings.run}`, `{settings.vm}`, {settings.mem}",
        kinds,
        f"{references / 1e6:.1f}",
        f"{totals['runs'] / 1e6:.1f}",
        f"{before.wall_s:.2f}",
        f"{after.wall_s:.2f}",
        f"{(after.wall_s - before.wall_s) / references * 1e9:.1f}",
        f"{(after.cpu_s - before.cpu_s) / references * 1e9:.1f}",
        f"{size / 1e6:.2f}",
        "yes" if same else "**no**",
    ]


def make(figure: Figure, work: Path) -> str:
    titles = ["run", "kinds", "M loads and stores", "M runs", "plain s", "recorded s", "ns each", "CPU ns each"]
    titles += ["trace MB", "same bytes"]
    rows = []
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as folder:
        for number, (command, changes) in enumerate(COMMANDS):
            for kinds in KINDS:
                settings = replace(SETTINGS, run=command, **changes)
                rows.append(row(settings, kinds, Path(folder, f"{number}-{kinds}")))
    return f"`tidemark trace record`, {SETTINGS.swap}, median of {REPEATS} pairs of runs; {host()}\n\n" + table(
        titles, rows, text_columns=2
    )
