"""The size of the working set over time, and the share of time of each size, for several windows at once.

Pages are kept in a list in order of last use, so the pages in the window of theta are the first of the list, and the
size for a theta changes at two kinds of events: a page outside the window is referenced, or the last page inside is
theta old. For each theta the list's last page inside is kept; time between two events is added to the present size.
This gives the exact mean over each slice of time and the exact share of time of each size, in one pass, with memory by
distinct pages. The working set is that of working_set.py, with one simplification: a page stays in the set for the
whole length of a run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tidemark.curves.runs import Array, Batch, first_and_last
from tidemark.jit import Int, compiled

NOBODY = -1
NEVER = np.int64(-(2**62))
NO_EXPIRY = np.int64(2**62)
OLDEST, SIZE, SINCE, EXPIRY = 0, 1, 2, 3


class WorkingSetSizes(NamedTuple):
    """`thetas` i64[k]; `times` i64[n]: the end of each slice; `means` f64[k, n]: pages, mean over the slice; `shares`
    f64[k, pages + 1]: share of the time with that many pages.
    """

    thetas: np.ndarray
    times: np.ndarray
    means: np.ndarray
    shares: np.ndarray


@compiled
def _account(windows: Array, k: Int, until: Int, sums: tuple[Any, ...]) -> None:
    """Add the time until `until`, in which the size for window k did not change."""
    slice_length, page_time, time_at = sums
    size, since = windows[k, SIZE], windows[k, SINCE]
    time_at[k, size] += until - since
    while since < until:
        number = (since - 1) // slice_length
        end = min(until, (number + 1) * slice_length + 1)
        page_time[k, number] += size * (end - since)
        since = end
    windows[k, SINCE] = until


@compiled
def _set_oldest(windows: Array, k: Int, page: Int, theta: Int, last: Array) -> None:
    windows[k, OLDEST] = page
    windows[k, EXPIRY] = last[page] + theta if windows[k, SIZE] else NO_EXPIRY


@compiled
def _expire(windows: Array, k: Int, theta: Int, now: Int, last: Array, newer: Array, sums: tuple[Any, ...]) -> None:
    """Remove the pages that are theta old by `now` from the working set."""
    while windows[k, EXPIRY] <= now:
        _account(windows, k, windows[k, EXPIRY], sums)
        windows[k, SIZE] -= 1
        _set_oldest(windows, k, newer[windows[k, OLDEST]], theta, last)


@compiled
def _enter(
    windows: Array, k: Int, theta: Int, page: Int, now: Int, last: Array, newer: Array, sums: tuple[Any, ...]
) -> None:
    """Update window k for a reference to `page`, which is still in the place of its previous use."""
    _expire(windows, k, theta, now, last, newer, sums)
    if last[page] + theta <= now:
        _account(windows, k, now, sums)
        windows[k, SIZE] += 1
    if windows[k, SIZE] == 1:
        windows[k, OLDEST] = page
    elif windows[k, OLDEST] == page:
        _set_oldest(windows, k, newer[page], theta, last)


@compiled
def _to_front(page: Int, front: Int, newer: Array, older: Array) -> None:
    """Move a page to the front of the list, or insert a new one there."""
    if newer[page] != NOBODY:
        older[newer[page]] = older[page]
        if older[page] != NOBODY:
            newer[older[page]] = newer[page]
    if front != NOBODY:
        newer[front] = page
    older[page], newer[page] = front, NOBODY


@compiled
def _feed(
    runs: tuple[Any, ...], front: Int, places: tuple[Any, ...], windows: Array, thetas: Array, sums: tuple[Any, ...]
) -> Int:
    """Process the columns `runs`. Returns the page that is first in the list afterwards."""
    pages, counts, starts, steps = runs
    last, newer, older = places
    for i in range(len(pages)):
        page = pages[i]
        first, end = first_and_last(starts[i], np.int64(steps[i]), np.int64(counts[i]))
        for k in range(len(thetas)):
            is_outside = last[page] + thetas[k] <= first
            if is_outside or windows[k, OLDEST] == page:
                _enter(windows, k, thetas[k], page, first, last, newer, sums)
        if page != front:
            _to_front(page, front, newer, older)
            front = page
        last[page] = end
        for k in range(len(thetas)):
            if windows[k, OLDEST] == page:
                windows[k, EXPIRY] = end + thetas[k]
    return front


@compiled
def _finish(end: Int, last: Array, newer: Array, windows: Array, thetas: Array, sums: tuple[Any, ...]) -> None:
    for k in range(len(thetas)):
        _expire(windows, k, thetas[k], end, last, newer, sums)
        _account(windows, k, end, sums)


class Timeline:
    """Feed it batches, then take `result()` once. `end` is the virtual time of the whole trace, cut into at most
    `slices` equal slices (the last may be shorter).
    """

    def __init__(self, thetas: np.ndarray, end: int, nr_pages: int, slices: int = 1000) -> None:
        self._thetas = np.asarray(thetas, np.int64)
        self._end = max(end, 1)
        self._slice = -(-self._end // slices)
        self._page_time = np.zeros((len(thetas), -(-self._end // self._slice)), np.int64)
        self._time_at = np.zeros((len(thetas), nr_pages + 1), np.int64)
        self._windows = np.tile(np.array([NOBODY, 0, 1, NO_EXPIRY], np.int64), (len(thetas), 1))
        self._last = np.full(nr_pages, NEVER)
        self._newer = np.full(nr_pages, NOBODY, np.int32)
        self._older = np.full(nr_pages, NOBODY, np.int32)
        self._front = NOBODY

    def feed(self, batch: Batch) -> None:
        """Add the batch's runs."""
        runs = (batch.pages, batch.counts, batch.starts, batch.steps)
        places = (self._last, self._newer, self._older)
        self._front = _feed(runs, self._front, places, self._windows, self._thetas, self._sums())

    def result(self) -> WorkingSetSizes:
        """The sizes over the whole trace."""
        _finish(self._end + 1, self._last, self._newer, self._windows, self._thetas, self._sums())
        times = np.minimum(np.arange(1, self._page_time.shape[1] + 1) * self._slice, self._end)
        means = self._page_time / np.diff(times, prepend=0)
        return WorkingSetSizes(self._thetas, times, means, self._time_at / self._end)

    def _sums(self) -> tuple[int, np.ndarray, np.ndarray]:
        return self._slice, self._page_time, self._time_at
