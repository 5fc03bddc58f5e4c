"""Cells: runs seen as points of an experiment, and the curves through them.

A curve needs runs that differ in one thing (the number of processes, or memory), lines for the policies, and as many
panels as there are other differences. Runs that differ in the seed alone are repetitions: points, with their mean as
the line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from tidemark import qemu, summary
from tidemark.telemetry import Telemetry

PROCESSES, MEMORY, POLICY, SEED = "processes", "mem", "vm", "seed"
SHARES = ("utilisation", "user", "policy")
MIB = 1 << 20


@dataclass(frozen=True)
class Cell:
    """One run of a sweep, or a lone run seen as one. `factors` are its settings as text, with what the plan named;
    `numbers` is empty, and `why` says the reason, for one that cannot be used in curves."""

    name: str
    factors: dict[str, str]
    numbers: dict[str, float]
    why: str = ""


@dataclass(frozen=True)
class Panel:
    """Cells that differ in x, the policy and the seed only; `title` says what is common. Lines ascend in x."""

    title: str
    lines: dict[str, list[tuple[float, Cell]]]


def in_percent(system: Mapping[str, float]) -> dict[str, float]:
    """tidemark.summary.system with its shares as percent."""
    return {
        f"{name}_percent" if name in SHARES else name: value * (100 if name in SHARES else 1)
        for name, value in system.items()
    }


def measured(data: Telemetry) -> dict[str, float]:
    """A whole run in numbers.

    turnaround_s     of the command: the longest of its processes', creation to end (it waits for its children)
    mean_turnaround_s, throughput_per_s   of the jobs: all processes but the command itself, if it has children;
                     throughput is jobs that ended with status 0 over the command's turnaround
    the rest         tidemark.summary.system, shares as percent
    """
    numbers = in_percent(summary.system(data))
    if data.exits:
        command = max(data.exits, key=lambda record: record["turnaround_us"])
        jobs = [record for record in data.exits if record is not command] or [command]
        whole_s = command["turnaround_us"] / 1e6
        numbers["turnaround_s"] = whole_s
        numbers["mean_turnaround_s"] = mean(record["turnaround_us"] for record in jobs) / 1e6
        numbers["throughput_per_s"] = sum(record["status"] == 0 for record in jobs) / whole_s if whole_s else 0.0
    return numbers


def position(cell: Cell, x: str) -> float | None:
    """Where a cell stands on the axis `x`: a number of processes, or MiB; None for one that does not say."""
    text = cell.factors.get(x, "")
    try:
        return qemu.size_bytes(text, x) / MIB if x == MEMORY else float(text)
    except ValueError:
        return None


def kept_apart(cell: Cell, x: str) -> tuple[tuple[str, str], ...]:
    """What must be equal for two cells to be in one panel. The command follows from the workload and its processes."""
    follows = {x, POLICY, SEED, "timeout", "exact"} | ({"run"} if cell.factors.get("workload") else set())
    return tuple(sorted((key, value) for key, value in cell.factors.items() if key not in follows))


def panels(cells: Sequence[Cell], x: str) -> list[Panel]:
    """The panels of curves against `x`; only those in which some line has two positions."""
    groups: dict[tuple, dict[str, list]] = {}
    for cell in cells:
        at = position(cell, x)
        if at is not None and cell.numbers:
            lines = groups.setdefault(kept_apart(cell, x), {})
            lines.setdefault(cell.factors.get(POLICY, "?"), []).append((at, cell))
    drawn = {
        key: {policy: sorted(line, key=lambda point: point[0]) for policy, line in sorted(lines.items())}
        for key, lines in groups.items()
        if any(len({at for at, _ in line}) > 1 for line in lines.values())
    }
    return [Panel(title(key, list(drawn)), lines) for key, lines in drawn.items()]


def title(key: tuple, keys: Sequence[tuple]) -> str:
    """What tells one panel from the others, or, of a single one, its workload."""
    differ = [pair for pair in key if not all(pair in other for other in keys)]
    shown = differ or [pair for pair in key if pair[0] in ("workload", "run")][:1]
    return ", ".join(value if name in ("workload", "run", "mem") else f"{name} {value}" for name, value in shown)


def means(line: Sequence[tuple[float, Cell]], name: str) -> tuple[list[float], list[float]]:
    """The distinct positions of a line, and the mean of a number over the repetitions at each."""
    by_position: dict[float, list[float]] = {}
    for at, cell in line:
        if name in cell.numbers:
            by_position.setdefault(at, []).append(cell.numbers[name])
    return list(by_position), [mean(values) for values in by_position.values()]
