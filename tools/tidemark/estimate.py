"""How long cells will take, from those that are done.

The logarithm of a cell's host time is taken as a sum of effects: one for each value of policy, workload, swap, …, and
slopes over the logarithms of memory, frames and the number of processes, the latter for each policy. The effects are
fitted to the finished cells by least squares, drawn towards a prior (ridge regression): time proportional to the
number of processes, and less of it with more memory. So there is an order before anything is known, longest first, and
after a few cells an estimate that knows that the short ones come last.

Longest first, each to the processor that is free first, is the rule LPT; it ends at most a third after the best
schedule (R. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Applied Mathematics 17(2), 1969).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tidemark import qemu

NUMBERS = ("processes", "mem", "frames")
PRIOR = {"processes": 1.0, "mem": -0.5}
STRENGTH = 0.1
LEAST_S = 0.05

Variables = Mapping[str, str | int]


def features(variables: Variables) -> dict[str, float]:
    """A cell's variables as numbers, by name: logarithms of sizes and counts, 1 for each value of the others."""
    found = {"": 1.0}
    for name, value in variables.items():
        if name in NUMBERS:
            found[name] = math.log(qemu.size_bytes(str(value), name) or 1)
        elif name != "seed":
            found[f"{name}={value}"] = 1.0
    found[f"processes, vm={variables.get('vm')}"] = found.get("processes", 0.0)
    return found


def predict(done: Sequence[tuple[Variables, float]], cells: Sequence[Variables]) -> np.ndarray:
    """Expected host seconds float64[len(cells)], from (variables, host seconds) of cells that are done. With none done,
    only the order of the numbers means something."""
    rows = [features(variables) for variables, _ in done]
    wanted = [features(variables) for variables in cells]
    names = {name: at for at, name in enumerate(dict.fromkeys(name for row in [*rows, *wanted] for name in row))}
    x, to_predict = matrix(rows, names), matrix(wanted, names)
    prior = np.array([PRIOR.get(name, 0.0) for name in names])
    if done:
        y = np.log([max(seconds, LEAST_S) for _, seconds in done])
        # The common level is free: it follows the data, not the prior.
        weight = np.array([STRENGTH if name else 1e-6 for name in names])
        prior = prior + np.linalg.solve(x.T @ x + np.diag(weight), x.T @ (y - x @ prior))
    return np.exp(np.clip(to_predict @ prior, -50, 50))


def matrix(rows: Sequence[dict[str, float]], names: Mapping[str, int]) -> np.ndarray:
    """float64[len(rows), len(names)] of features."""
    values = np.zeros((len(rows), len(names)))
    for at, row in enumerate(rows):
        for name, value in row.items():
            values[at, names[name]] = value
    return values


def makespan(seconds: Iterable[float], slots: int) -> float:
    """When the last of these ends, if `slots` run at a time, in this order."""
    ends = [0.0] * max(slots, 1)
    for one in seconds:
        heapq.heapreplace(ends, ends[0] + one)
    return max(ends)
