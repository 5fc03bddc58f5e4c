"""Numbers of a reference trace: a run is recorded, and the curves of one process are computed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tidemark.curves import analyse
from tidemark.curves.lifetime import Curve
from tidemark.curves.runs import Choice
from tidemark.errors import FAILED, LabError
from tidemark.machine import qemu
from tidemark.papers.declared import Sweep
from tidemark.trace import MODIFY, STORE, record
from tidemark.trace.format import Reader
from tidemark.trace.spaces import choose_space

KINDS = tuple(range(6))
DELAY = 12_270_000  # nanoseconds, and so instructions, for a page from the modelled disk
WINDOWS = (500_000, 1_000_000, 10_000_000)  # instructions: those of McMenamin's figures 3.2 and 4.3
BINS, LEAST_SHARE = 12, 0.01


def knee(curve: Curve) -> int:
    """The index of the primary knee. Raises LabError if there is none."""
    at = curve.knee()
    if at is None:
        raise LabError(f"the curve of {curve.policy} has no knee", FAILED)
    return at


OF_CURVES: dict[str, Callable[[Curve], float]] = {
    "knee_pages": lambda curve: float(curve.sizes[knee(curve)]),
    "knee_parameter": lambda curve: float(curve.parameters[knee(curve)]),
    "knee_lifetime": lambda curve: float(curve.lifetimes[knee(curve)]),
    "end": lambda curve: float(curve.end),
    "cheapest": lambda curve: float(curve.spacetimes[curve.cheapest()]),
}


def lifetime_at(curve: Curve, size: float) -> float:
    """The lifetime with a mean of `size` pages, between the curve's points."""
    order = np.argsort(curve.sizes, kind="stable")
    return float(np.interp(size, curve.sizes[order], curve.lifetimes[order]))


def humps(shares: np.ndarray) -> int:
    """The number of humps of a distribution of working-set sizes, f64[pages + 1], in BINS bins from the least size to
    the greatest: a hump ends when a bin has less than half of its height, and the next begins when one has more than
    twice what the dip between them has."""
    there = np.flatnonzero(shares)
    bins = np.array_split(shares[there[0] : there[-1] + 1], BINS)
    count, top, bottom, rising = 0, 0.0, 0.0, True
    for share in [*(float(one.sum()) for one in bins), 0.0]:
        if rising:
            top = max(top, share)
            if share < top / 2:
                count, rising, bottom = count + 1, False, share
        else:
            bottom = min(bottom, share)
            if share > max(2 * bottom, LEAST_SHARE):
                rising, top = True, share
    return count


def of_whole(name: str, found: analyse.Analysis) -> float:
    """A number of the whole trace."""
    kind, _, rest = name.partition(" ")
    if kind == "pages":
        return float(found.totals.pages)
    if kind == "lead":  # LRU's lifetime over the working set's, at a share of the working set's greatest mean size
        size = float(rest) * float(found.curves["ws"].sizes.max())
        return lifetime_at(found.curves["lru"], size) / lifetime_at(found.curves["ws"], size)
    if kind == "touched":  # the mean share of the map's rows that are touched in one of its slices
        return float((found.map.counts.sum(axis=2) > 0).mean())
    if kind in OF_MAPS:
        return OF_MAPS[kind](found.addresses[0].counts)
    if kind not in OF_SIZES or int(rest) not in WINDOWS:
        raise LabError(f"a trace has no number {name!r}")
    at = [int(theta) for theta in found.sizes.thetas].index(int(rest))
    return OF_SIZES[kind](found.sizes.shares[at], found.sizes.means[at])


# Of the counts [rows, slices, kinds] of the map on a linear axis of addresses.
OF_MAPS: dict[str, Callable[[np.ndarray], float]] = {
    # The share of the rows that has any reference.
    "filled": lambda counts: float(counts.any(axis=(1, 2)).mean()),
    # The share of slices in which the highest row is written: the stack's.
    "stack": lambda counts: float(counts[-1][:, [STORE, MODIFY]].any(axis=1).mean()),
}

# Of the working set with a window: from the shares of time by size, and from the mean of each slice of time.
OF_SIZES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "peak": lambda shares, means: float(np.flatnonzero(shares)[-1]),
    "humps": lambda shares, means: float(humps(shares)),
    # The greatest change from one slice to the next, over the mean size.
    "change": lambda shares, means: float(np.abs(np.diff(means)).max() / means.mean()),
}


def one_number(how: Any, found: analyse.Analysis) -> float:
    """One declared number of a trace."""
    times = float(how.get("times", 1))
    if "trace" in how:
        return times * of_whole(how["trace"], found)
    return times * OF_CURVES[how["of"]](found.curves[how["curve"]])


def space_of(reader: Reader, names: Sequence[str]) -> str:
    """The first of the names that is an address space of the trace."""
    there = {row.get("name", "") for row in reader.spaces}
    return next((name for name in names if name in there), names[0])


def measured(settings: qemu.Settings, work: Path, sweep: Sweep, progress: record.Progress) -> dict[str, Any]:
    """Host seconds, and the declared numbers, of a run that is recorded in the new folder `work`."""
    begun = time.monotonic()
    made = record.record(settings, work, progress=progress)
    if made.result.meta["exit"] != qemu.OK:
        raise LabError(f"{settings.run!r}: {made.result.meta['reason']}:\n{made.result.tail()}", FAILED)
    reader = Reader(made.trace)
    choice = Choice(choose_space(reader, space_of(reader, sweep.trace.split())), KINDS)
    found = analyse.analyse(reader, analyse.Plan(choice, False, DELAY, WINDOWS))
    values = {name: one_number(how, found) for name, how in sweep.numbers.items()}
    return {"wall_s": time.monotonic() - begun, "numbers": values}
