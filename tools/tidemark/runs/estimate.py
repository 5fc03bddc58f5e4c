"""Estimates of how long cells take: the median of finished cells of the same kind, or of all if there are none.

Cells of the same kind are repetitions: they differ only in seed, jitter or replicate. Cells that probably take longest,
with many processes or little memory, start first: longest first, each on the processor that is free first, ends at
most a third after the best schedule (R. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Applied
Mathematics 17(2), 1969).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from tidemark.machine import qemu
from tidemark.runs.replicates import REPETITION

Variables = Mapping[str, str | int]


def weight(variables: Variables) -> tuple[int, int]:
    """A key that sorts cells by how long they are likely to take, the longest first."""
    return -int(variables.get("processes", 1)), qemu.size_bytes(str(variables.get("mem", 0)), "mem")


def kind(variables: Variables) -> tuple[tuple[str, str | int], ...]:
    """The variables that cells of the same kind have in common."""
    return tuple((name, value) for name, value in variables.items() if name not in REPETITION)


def predict(done: Sequence[tuple[Variables, float]], cells: Sequence[Variables]) -> list[float]:
    """Expected host seconds of each cell, from (variables, host seconds) of at least one finished cell."""
    alike: dict[tuple[Any, ...], list[float]] = {}
    for variables, seconds in done:
        alike.setdefault(kind(variables), []).append(seconds)
    typical = median(seconds for _, seconds in done)
    return [median(alike.get(kind(variables), [typical])) for variables in cells]


def makespan(seconds: Iterable[float], slots: int) -> float:
    """The time at which the last of these cells ends, if `slots` run at a time, in this order."""
    ends = [0.0] * max(slots, 1)
    for one in seconds:
        heapq.heapreplace(ends, ends[0] + one)
    return max(ends)
