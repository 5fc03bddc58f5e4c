"""The page-fault-frequency policy for several thresholds at once.

Chu and Opderbeck ("Program behavior and the page-fault-frequency replacement algorithm", Computer 9(11), 1976) look at
faults only. If the last fault was more than tau ago, the program has more pages than it needs, and the fault evicts all
pages that were not used since the last fault; otherwise the program keeps its pages, and the new page is added. The
page that faulted counts as used, by the access that faulted.

As in queues.py a page has a word with a bit for each threshold, so a reference that faults for no threshold costs one
look. The time of a page's last use says whether it was used since a threshold's last fault; this time is the number of
the run, because several runs can fall into one unit of time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidemark.curves.bits import lowest_bit
from tidemark.curves.runs import Array, Batch, first_and_last
from tidemark.jit import Int, compiled

MAX_THRESHOLDS = 64
ONE, NONE = np.uint64(1), np.uint64(0)
SIZE, SINCE, FAULT_AT, FAULT_RUN, PAGE_TIME, FAULTS = range(6)
NOT_YET = -(2**62)


@compiled
def _shrink(k: Int, size: Int, since_run: Int, queue: Array, resident: Array, last_run: Array) -> Int:
    """Evict threshold k's pages that were not used since run `since_run`. Returns the number of pages left."""
    kept: Int = 0
    for place in range(size):
        page = queue[k, place]
        if last_run[page] >= since_run:
            queue[k, kept] = page
            kept += 1
        else:
            resident[page] &= ~(ONE << np.uint64(k))
    return kept


@compiled
def _fault(now: Int, run: Int, page: Int, k: Int, tau: Int, state: Array, pages: tuple[Any, ...]) -> None:
    """Handle a fault on `page` for threshold k."""
    queue, resident, last_run = pages
    state[k, PAGE_TIME] += state[k, SIZE] * (now - state[k, SINCE])
    if now - state[k, FAULT_AT] > tau:
        state[k, SIZE] = _shrink(k, state[k, SIZE], state[k, FAULT_RUN], queue, resident, last_run)
    queue[k, state[k, SIZE]] = page
    state[k, SIZE] += 1
    state[k, SINCE], state[k, FAULT_AT], state[k, FAULT_RUN] = now, now, run
    state[k, FAULTS] += 1


@compiled
def _feed(runs: tuple[Any, ...], first_run: Int, taus: Array, state: Array, pages: tuple[Any, ...]) -> None:
    numbers, counts, starts, steps = runs
    _, resident, last_run = pages
    everyone = ~NONE >> np.uint64(64 - len(taus))
    for i in range(len(numbers)):
        page = numbers[i]
        last_run[page] = first_run + i
        missing = everyone & ~resident[page]
        if not missing:
            continue
        now = first_and_last(starts[i], np.int64(steps[i]), np.int64(counts[i]))[0]
        resident[page] = everyone
        while missing:
            k = lowest_bit(missing)
            missing ^= ONE << k
            _fault(now, first_run + i, page, np.int64(k), taus[k], state, pages)


class PageFaultFrequency:
    """PFF with thresholds `taus` i64[k], at most MAX_THRESHOLDS, in units of time. Feed it batches; then `result(T)`.
    Memory: 16 bytes per page, and 4 per page and threshold.
    """

    def __init__(self, taus: np.ndarray, nr_pages: int) -> None:
        self.taus = np.asarray(taus, np.int64)
        self._state = np.zeros((len(taus), FAULTS + 1), np.int64)
        self._state[:, FAULT_AT] = NOT_YET
        queue = np.empty((len(taus), nr_pages + 1), np.int32)
        self._pages = (queue, np.zeros(nr_pages, np.uint64), np.zeros(nr_pages, np.int64))
        self._runs = 0

    def feed(self, batch: Batch) -> None:
        """Add the batch's runs."""
        runs = (batch.pages, batch.counts, batch.starts, batch.steps)
        _feed(runs, self._runs, self.taus, self._state, self._pages)
        self._runs += len(batch.pages)

    def result(self, end: int) -> tuple[np.ndarray, np.ndarray]:
        """faults i64[k], mean pages f64[k] over the virtual time 1 to `end`."""
        last = self._state[:, SIZE] * (end + 1 - self._state[:, SINCE])
        return self._state[:, FAULTS].copy(), (self._state[:, PAGE_TIME] + last) / max(end, 1)
