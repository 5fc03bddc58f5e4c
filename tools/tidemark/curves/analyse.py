"""All curves of a trace, in two passes over it.

The first pass computes what needs no parameter: LRU, MIN, the working set and VMIN for all sizes at once. Its results
(the virtual time, the pages, the knee of the working set) set up the second pass: working-set sizes over time for some
windows, the reference map, FIFO and CLOCK for some sizes, and PFF for some thresholds. Memory is bounded by the number
of distinct pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tidemark.curves import lifetime
from tidemark.curves.addresses import AddressMap, AddressMapBuilder
from tidemark.curves.belady import MinDistances
from tidemark.curves.lifetime import Curve
from tidemark.curves.lru import StackDistances
from tidemark.curves.pff import PageFaultFrequency
from tidemark.curves.queues import Queues
from tidemark.curves.refmap import MapBuilder, ReferenceMap
from tidemark.curves.runs import Batch, Choice, Selection, Totals
from tidemark.curves.timeline import Timeline, WorkingSetSizes
from tidemark.curves.working_set import Intervals
from tidemark.errors import USAGE, LabError
from tidemark.trace import FILE_PAGE
from tidemark.trace.format import Block, Reader

PASSES = 2
ORDER = ("ws", "vmin", "pff", "lru", "min", "fifo", "clock")
SIZES_BY_RATIO = SIZES_BY_STEP = 16
THRESHOLDS, SHORTEST = 32, 10
NO_KNEE_FRACTION = 100
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """What to compute: the choice of references, the unit of time, the fault delay in that unit, and the windows for
    the working-set size over time (none: the largest knee of the working set, a tenth and ten times of it). `lowest`:
    the share of the range of addresses that is also drawn alone.
    """

    choice: Choice
    in_references: bool
    delay: int
    thetas: tuple[int, ...] = ()
    lowest: float = 0.01

    @property
    def unit(self) -> str:
        """The unit of time."""
        return "references" if self.in_references else "instructions"


@dataclass(frozen=True)
class Analysis:
    """The results. `curves` are by policy, in the order of ORDER; `end` is the virtual time of the trace. `addresses`
    are the maps of the whole range of addresses and of its lowest part."""

    plan: Plan
    totals: Totals
    end: int
    curves: dict[str, Curve]
    sizes: WorkingSetSizes
    map: ReferenceMap
    addresses: tuple[AddressMap, AddressMap]


@dataclass(frozen=True)
class Second:
    """The results of the second pass: sizes over time, the maps, and the curves of pff, fifo and clock."""

    sizes: WorkingSetSizes
    map: ReferenceMap
    addresses: tuple[AddressMap, AddressMap]
    curves: dict[str, Curve]


def round_theta(theta: float) -> int:
    """`theta` rounded to two significant digits, at least 1."""
    return max(1, int(float(f"{theta:.1e}")))


def default_thetas(working_set: Curve) -> tuple[int, ...]:
    """The window at the largest knee, a tenth and ten times of it; without a knee, of a hundredth of the time."""
    knees = [knee for knee in (*working_set.other_knees(), working_set.knee()) if knee is not None]
    middle = float(working_set.parameters[max(knees)]) if knees else working_set.end / NO_KNEE_FRACTION
    return tuple(sorted({min(round_theta(middle * factor), max(working_set.end, 1)) for factor in (0.1, 1, 10)}))


def some_sizes(nr_pages: int) -> np.ndarray:
    """Numbers of frames from 1 to `nr_pages`, in ascending order: some at equal ratios, some at equal steps."""
    sizes = np.concatenate([np.geomspace(1, nr_pages, SIZES_BY_RATIO), np.linspace(1, nr_pages, SIZES_BY_STEP)])
    return np.unique(np.rint(sizes).astype(np.int64))


def some_thresholds(end: int) -> np.ndarray:
    """Thresholds of PFF at equal ratios, in ascending order; nearly every interval is longer than the first."""
    return np.unique(np.geomspace(min(SHORTEST, end), end, THRESHOLDS).astype(np.int64))


def _blocks(reader: Reader, number: int, progress: Progress) -> Iterator[Block]:
    """The blocks of pass `number`; reports the runs so far and the runs of all passes as progress."""
    runs = reader.totals["runs"]
    done = number * runs
    for block in reader:
        yield block
        done += len(block.ids)
        progress(done, PASSES * runs)


def _run_through(batches: Iterator[Batch], parts: Sequence[Any]) -> None:
    for batch in batches:
        for part in parts:
            part.feed(batch)


def first_pass(reader: Reader, plan: Plan, progress: Progress) -> tuple[Selection, dict[str, Curve]]:
    """The selection after the whole trace, and the curves of ws, vmin, lru and min. Raises LabError if no reference is
    selected, or if no time has passed."""
    selection = Selection(plan.choice, plan.in_references, bool(reader.files))
    intervals, lru, optimal = Intervals(), StackDistances(), MinDistances()
    _run_through(selection.batches(_blocks(reader, 0, progress)), (intervals, lru, optimal))
    end = virtual_time(reader, plan, selection.totals)
    thetas, faults, sizes, least = intervals.curve(end)
    curves = {
        "ws": Curve("ws", thetas, sizes, faults, end, plan.delay),
        "vmin": Curve("vmin", thetas, least, faults, end, plan.delay),
        "lru": lifetime.from_depths("lru", lru.depths(), end, plan.delay),
        "min": lifetime.from_depths("min", optimal.capacities(), end, plan.delay),
    }
    return selection, curves


def virtual_time(reader: Reader, plan: Plan, totals: Totals) -> int:
    """The trace's virtual time T in the plan's unit. Raises LabError if nothing was selected or no time has passed."""
    if not totals.references:
        raise LabError(f"{reader.path}: no reference is selected: `tidemark trace info` shows what it has", USAGE)
    if plan.in_references:
        return totals.references
    if not totals.instructions:
        raise LabError(f"{reader.path} does not count instructions: add --time references", USAGE)
    return totals.instructions


def second_pass(
    reader: Reader, plan: Plan, first: Selection, thetas: Sequence[int], end: int, progress: Progress
) -> Second:
    """What needs the pages, the time and the windows of the first pass."""
    nr_pages, files = first.totals.pages, bool(reader.files)
    sizes = Timeline(np.array(thetas), end, nr_pages)
    pages = MapBuilder(*first.pages(), end, files)
    whole = AddressMapBuilder(first.pages()[1], end, files)
    lowest = AddressMapBuilder(first.pages()[1], end, files, plan.lowest)
    of_file = np.zeros(nr_pages, bool) if not files else first.pages()[1] >= FILE_PAGE
    queues = Queues(some_sizes(nr_pages), of_file)
    pff = PageFaultFrequency(some_thresholds(end), nr_pages)
    selection = Selection(plan.choice, plan.in_references, files)
    _run_through(selection.batches(_blocks(reader, 1, progress)), (sizes, pages, whole, lowest, queues, pff))
    frames = queues.sizes
    counted, means = pff.result(end)
    curves = {"pff": Curve("pff", pff.taus, means, counted, end, plan.delay)}
    curves |= {
        policy: Curve(policy, frames, frames.astype(np.float64), faults, end, plan.delay)
        for policy, faults in queues.faults().items()
    }
    return Second(sizes.result(), pages.result(), (whole.result(), lowest.result()), curves)


def analyse(reader: Reader, plan: Plan, progress: Progress = lambda done, total: None) -> Analysis:
    """Compute everything. Raises TraceError if the trace is damaged, LabError if there is nothing to draw."""
    first, curves = first_pass(reader, plan, progress)
    end = curves["lru"].end
    thetas = plan.thetas or default_thetas(curves["ws"])
    second = second_pass(reader, plan, first, thetas, end, progress)
    curves = {name: (curves | second.curves)[name] for name in ORDER}
    return Analysis(plan, first.totals, end, curves, second.sizes, second.map, second.addresses)
