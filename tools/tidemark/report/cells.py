"""Cells: runs seen as points of an experiment, and the curves through them.

A curve needs runs that differ in one setting (the number of processes, memory, or any parameter with several numbers).
It has a line for each policy, and there are as many panels as there are other differences. Runs that differ only as
replicates do, or in jitter or seed, are repetitions: points, with their median as the line and a band from the least to
the greatest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from tidemark.machine import qemu
from tidemark.runs import replicates
from tidemark.runs.plan import IDEAL, filled
from tidemark.runs.replicates import REPETITION, REPLICATE

PROCESSES, MEMORY, POLICY = "processes", "mem", "vm"
NO_AXIS = (*REPETITION, POLICY, IDEAL, "timeout", "exact")
MIB = 1 << 20


@dataclass(frozen=True)
class Cell:
    """One run of a sweep, or a lone run treated as one. `factors` are its settings as text, with the plan's variables.
    If it cannot be used in curves, `numbers` is empty and `why` is the reason. `again` is the command that repeats it,
    `sweep` the name of its sweep's folder, `verdict` whether it thrashed."""

    name: str
    factors: dict[str, str]
    numbers: dict[str, float]
    why: str = ""
    again: str = ""
    sweep: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class Panel:
    """Cells that differ only in x, the policy and the seed; `title` says what is common. Lines ascend in x."""

    title: str
    lines: dict[str, list[tuple[float, Cell]]]


def position(cell: Cell, x: str) -> float | None:
    """The position of a cell on the axis `x`: a number of processes, or MiB; None if the cell does not tell."""
    text = cell.factors.get(x, "")
    try:
        return qemu.size_bytes(text, x) / MIB if x == MEMORY else float(text)
    except ValueError:
        return None


def command(cell: Cell) -> str:
    """The command line of a cell; of a replicate, as the plan writes it, which all replicates have in common."""
    if REPLICATE not in cell.factors or "workload" not in cell.factors:
        return cell.factors.get("run", "?")
    return replicates.nominal(filled({name: value for name, value in cell.factors.items() if name != "seed"}))


def sized(cell: Cell) -> bool:
    """Does the size of the workload differ among the replicates of this cell?"""
    return REPLICATE in cell.factors and replicates.varies(cell.factors.get("workload", ""))


def repetition(cell: Cell) -> tuple[str, ...]:
    """Which repetition a cell is: runs of two contestants that have this in common are a pair."""
    return tuple(cell.factors.get(name, "") for name in REPETITION)


def kept_apart(cell: Cell, x: str) -> tuple[tuple[str, str], ...]:
    """What must be equal for two cells to be in one panel. The command follows from the workload and its processes."""
    follows = {x, *NO_AXIS} | ({"run"} if cell.factors.get("workload") else set())
    return tuple(sorted((key, value) for key, value in cell.factors.items() if key not in follows))


def panels(cells: Sequence[Cell], x: str) -> list[Panel]:
    """The panels of curves against `x`; only those in which some line has two positions."""
    groups: dict[tuple[tuple[str, str], ...], dict[str, list[tuple[float, Cell]]]] = {}
    for cell in cells:
        at = position(cell, x)
        if at is not None and cell.numbers and IDEAL not in cell.factors:
            lines = groups.setdefault(kept_apart(cell, x), {})
            lines.setdefault(cell.factors.get(POLICY, "?"), []).append((at, cell))
    drawn = {
        key: {policy: sorted(line, key=lambda point: point[0]) for policy, line in sorted(lines.items())}
        for key, lines in groups.items()
        if any(len({at for at, _ in line}) > 1 for line in lines.values())
    }
    return [Panel(title(key, list(drawn)), lines) for key, lines in drawn.items()]


def title(key: tuple[tuple[str, str], ...], keys: Sequence[tuple[tuple[str, str], ...]]) -> str:
    """The settings that tell one panel from the others, or the workload of a single panel."""
    differ = [pair for pair in key if not all(pair in other for other in keys)]
    shown = differ or [pair for pair in key if pair[0] in ("workload", "run")][:1]
    return ", ".join(
        readable(value) if name in ("workload", "run", "mem") else f"{name} {value}" for name, value in shown
    )


def readable(workload: str) -> str:
    """A command line of a plan with its sizes, n for the number of processes, and other axes without their braces."""
    return re.sub(r"\{(\w+)\}", r"\1", replicates.nominal(workload).replace("{processes}", "n"))


def axes(cells: Sequence[Cell]) -> list[str]:
    """The settings that curves can be drawn against: processes, memory, and any other with several numbers."""
    names = dict.fromkeys(
        [PROCESSES, MEMORY, *(name for cell in cells for name in cell.factors if name not in NO_AXIS)]
    )
    used = [cell for cell in cells if cell.numbers and IDEAL not in cell.factors]
    numbers = {name: {position(cell, name) for cell in used} - {None} for name in names}
    return [name for name in names if len(numbers[name]) > 1]


def repetitions(line: Sequence[tuple[float, Cell]], name: str) -> dict[float, list[float]]:
    """The distinct positions of a line, and the number `name` of all runs at each."""
    by_position: dict[float, list[float]] = {}
    for at, cell in line:
        if name in cell.numbers:
            by_position.setdefault(at, []).append(cell.numbers[name])
    return by_position


def medians(line: Sequence[tuple[float, Cell]], name: str) -> tuple[list[float], list[float]]:
    """The distinct positions of a line, and the median of a number over the repetitions at each."""
    by_position = repetitions(line, name)
    return list(by_position), [median(values) for values in by_position.values()]
