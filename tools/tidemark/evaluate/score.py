"""Scores: ratios to the best possible, by cell, part and replicate, and what the replicates say about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean
from typing import Any

from tidemark.evaluate.booted import Measured
from tidemark.runs import claims

STRINGS, MACHINE, HOOKS = "strings", "machine", "hooks"

Ratios = Mapping[int, float]  # by replicate


@dataclass(frozen=True)
class Half:
    """The results of one half of an evaluation, by cell and replicate."""

    strings: Mapping[str, Ratios]
    machine: Mapping[str, Mapping[int, Measured]]


def mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return exp(fmean(map(log, values)))


def by_replicate(cells: Sequence[Ratios]) -> dict[int, float]:
    """The geometric mean of the cells for each replicate."""
    return {number: mean([cell[number] for cell in cells]) for number in cells[0]}


def keys(values: Ratios) -> claims.Values:
    """The values as tidemark.runs.claims wants them."""
    return {("", "", "", str(number)): value for number, value in values.items()}


def stated(values: Ratios) -> dict[str, Any] | None:
    """What the replicates say about ratios: the median with its interval of 95 %; None for a ratio of 0. The ends are
    None if there are too few replicates."""
    claim = claims.of(keys(dict.fromkeys(values, 1.0)), keys(values))
    if claim is None:
        return None
    ends = (None, None) if claim.too_few else (claim.low, claim.high)
    return {"ratio": claim.ratio, "low": ends[0], "high": ends[1], "by_replicate": list(values.values())}


def hooks(half: Half) -> dict[int, float]:
    """Instructions of all cells over those without hooks, by replicate."""
    runs = [{number: one.counted for number, one in cell.items()} for cell in half.machine.values()]
    every = {number: sum(cell[number].instructions for cell in runs) for number in runs[0]}
    spent = {number: sum(cell[number].hook_instructions for cell in runs) for number in runs[0]}
    return {number: every[number] / (every[number] - spent[number]) for number in every}


def parts(half: Half) -> dict[str, dict[int, float]]:
    """The value of each part, by replicate."""
    times = [{number: one.time_over_least for number, one in cell.items()} for cell in half.machine.values()]
    return {
        STRINGS: by_replicate(list(half.strings.values())),
        MACHINE: by_replicate(times),
        HOOKS: hooks(half),
    }


def scores(half: Half) -> dict[int, float]:
    """The score of each replicate."""
    return by_replicate(list(parts(half).values()))


def of_machine(name: str, cell: Mapping[int, Measured]) -> dict[str, Any]:
    """The JSON of a cell of the part `machine`."""
    runs = list(cell.values())
    return {
        "cell": name,
        "time_over_least": stated({number: one.time_over_least for number, one in cell.items()}),
        "reads_over_least": stated({number: one.reads_over_least for number, one in cell.items()}),
        "time_s": [one.counted.time_s for one in runs],
        "least_time_s": [one.least.seconds for one in runs],
        "read_pages": [one.counted.reads for one in runs],
        "least_read_pages": [one.least.reads for one in runs],
        "faults": [one.counted.faults for one in runs],
        "hooks_percent": [100 * one.counted.hook_instructions / one.counted.instructions for one in runs],
    }


def of_half(half: Half) -> dict[str, Any]:
    """The JSON of a half."""
    return {
        "replicates": list(next(iter(half.strings.values()))),
        "score": stated(scores(half)),
        "parts": {name: stated(values) for name, values in parts(half).items()},
        STRINGS: [{"cell": name, "faults_over_min": stated(values)} for name, values in half.strings.items()],
        MACHINE: [of_machine(name, cell) for name, cell in half.machine.items()],
    }
