"""The working set and VMIN for all window sizes in one pass, from the intervals between references to the same page.

The working set W(t, theta) is the pages referenced in the last theta units of virtual time up to t (Denning, CACM
11(5), 1968). A reference faults if its page was last referenced more than theta ago, and a page stays for theta after
a reference unless it is referenced again. Let c(a) be the number of references at interval a after the previous one to
their page, and e(a) the number of pages whose last reference is a - 1 before the end T:

    faults   K(theta) = first references + sum of c(a) over a > theta
    size     s(theta) = sum of (c(a) + e(a)) * min(a, theta) / T

(Denning and Schwartz, CACM 15(3), 1972; exact with the end's e(a): Slutz and Traiger, CACM 17(10), 1974; all theta at
once, as here: Denning and Slutz, CACM 21(9), 1978.) Time is discrete, 1 to T; references in one instruction are at
interval 0 and cannot fault.

The same histogram gives VMIN, which knows the future and keeps a page only for intervals of at most tau (Prieve and
Fabry, CACM 19(5), 1976): its faults are those of the working set, and no policy with equally many faults has a smaller
mean size. A page that is not kept is resident for the one unit in which it is used:

    size     v(tau) = (sum of c(a) * a over a <= tau, and of c(a) over a > tau, and pages) / T

The histogram has 64 bins for each doubling of the interval, and for each bin the number and the sum of its intervals.
So at the upper border of a bin K and s are exact, not interpolated, with memory that does not depend on the length of
the trace.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidemark.curves.bits import highest_bit
from tidemark.curves.runs import Array, Batch, first_and_last, grown
from tidemark.jit import Int, compiled

NEVER = -1
SHIFT = 6
NR_BINS = (64 - SHIFT) << SHIFT


class WorkingSetCurve(NamedTuple):
    """By window: `thetas` i64 in units of time; `faults` i64; mean sizes over virtual time, in pages: `sizes` f64 of
    the working set, and `least` f64 of VMIN.
    """

    thetas: np.ndarray
    faults: np.ndarray
    sizes: np.ndarray
    least: np.ndarray


@compiled
def _bin(interval: Int) -> Int:
    """The bin of an interval, which must be at least 0."""
    if interval < 2 << SHIFT:
        return interval
    shift = np.int64(highest_bit(np.uint64(interval))) - SHIFT
    return (shift << SHIFT) + (interval >> shift)


def bin_ends() -> np.ndarray:
    """i64[NR_BINS]: the longest interval of each bin."""
    bins = np.arange(NR_BINS, dtype=np.int64)
    shifts = np.maximum(bins >> SHIFT, 1) - 1
    ends: np.ndarray = ((bins - (shifts << SHIFT) + 1) << shifts) - 1
    return ends


@compiled
def _add(histogram: Array, interval: Int, number: Int) -> None:
    at = _bin(interval)
    histogram[at, 0] += number
    histogram[at, 1] += number * interval


@compiled
def _add_within(histogram: Array, steps: Int, count: Int) -> None:
    """Add the intervals between the `count` references of a run, spread evenly over its steps."""
    if steps <= count:
        ones = max(steps - 1, 0)
        histogram[1, 0] += ones
        histogram[1, 1] += ones
        histogram[0, 0] += count - 1 - ones
        return
    short, longer = steps // count, steps % count
    if longer:
        _add(histogram, short + 1, longer - 1)
    _add(histogram, short, count - max(longer, 1))


@compiled
def _feed(pages: Array, counts: Array, starts: Array, steps: Array, last: Array, histogram: Array) -> None:
    for i in range(len(pages)):
        page, count = pages[i], np.int64(counts[i])
        first, end = first_and_last(starts[i], np.int64(steps[i]), count)
        if last[page] != NEVER:
            _add(histogram, first - last[page], 1)
        if count > 1:
            _add_within(histogram, np.int64(steps[i]), count)
        last[page] = end


@compiled
def _add_ends(histogram: Array, last: Array, end: Int) -> None:
    for page in range(len(last)):
        _add(histogram, end + 1 - last[page], 1)


class Intervals:
    """Feed it batches, then call `curve(T)`. Memory: 8 bytes for each distinct page."""

    def __init__(self) -> None:
        self._last = np.full(0, NEVER, np.int64)
        self._histogram = np.zeros((NR_BINS, 2), np.int64)
        self._nr_pages = 0

    def feed(self, batch: Batch) -> None:
        """Add the batch's runs."""
        self._nr_pages = batch.nr_pages
        self._last = grown(self._last, batch.nr_pages, NEVER)
        _feed(batch.pages, batch.counts, batch.starts, batch.steps, self._last, self._histogram)

    def curve(self, end: int) -> WorkingSetCurve:
        """Exact at some 64 windows per doubling, from 1 to where a longer window changes nothing; `end` is T."""
        with_ends = self._histogram.copy()
        _add_ends(with_ends, self._last[: self._nr_pages], end)
        thetas = bin_ends()
        number, total = np.cumsum(with_ends, axis=0).T
        longer = number[-1] - number
        later_faults = self._histogram[:, 0].sum() - np.cumsum(self._histogram[:, 0])
        sizes = (total + thetas * longer) / max(end, 1)
        kept = np.cumsum(self._histogram[:, 1]) + later_faults + self._nr_pages
        points = slice(1, int(np.flatnonzero(longer)[-1]) + 2 if longer.any() else 2)
        faults = self._nr_pages + later_faults
        return WorkingSetCurve(thetas[points], faults[points], sizes[points], kept[points] / max(end, 1))
