"""An oracle: the textbooks' FIFO and CLOCK in a memory of fixed size, for several sizes at once.

Neither is a stack algorithm: the content of a memory of C pages need not be a subset of a larger one's (Belady,
Nelson and Shedler, CACM 12(6), 1969, found FIFO faulting more often with more frames), so each size must be
simulated. CLOCK is FIFO that spares a page used since the hand last passed it (Corbato, MIT MAC-M-384,
1968). In textbooks, and in libCacheSim, the reference that faulted counts as a use. In the kernel it does not; the
simulator runs the kernel's CLOCK, and tidemark.curves.queues computes the same.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from tidemark.curves.runs import Array, Batch, grown

NO_PAGE = -1
ABSENT, RESIDENT, USED = 0, 1, 2
HAND, FAULTS = 0, 1


@njit(cache=True, nogil=True)
def _fifo(pages: Array, frames: Array, states: Array, counters: Array) -> None:
    hand, faults = counters[HAND], counters[FAULTS]
    for page in pages:
        if states[page] != ABSENT:
            continue
        faults += 1
        if frames[hand] != NO_PAGE:
            states[frames[hand]] = ABSENT
        frames[hand] = page
        states[page] = RESIDENT
        hand = hand + 1 if hand + 1 < len(frames) else 0
    counters[HAND], counters[FAULTS] = hand, faults


@njit(cache=True, nogil=True)
def _clock(pages: Array, frames: Array, states: Array, counters: Array) -> None:
    hand, faults = counters[HAND], counters[FAULTS]
    for page in pages:
        if states[page] != ABSENT:
            states[page] = USED
            continue
        faults += 1
        while frames[hand] != NO_PAGE and states[frames[hand]] == USED:
            states[frames[hand]] = RESIDENT
            hand = hand + 1 if hand + 1 < len(frames) else 0
        if frames[hand] != NO_PAGE:
            states[frames[hand]] = ABSENT
        frames[hand] = page
        states[page] = USED
        hand = hand + 1 if hand + 1 < len(frames) else 0
    counters[HAND], counters[FAULTS] = hand, faults


KERNELS = {"fifo": _fifo, "clock": _clock}


@njit(cache=True, nogil=True)
def _changes(pages: Array, previous: int, out: Array) -> int:
    """The pages without immediate repetitions, which do not change the state of these policies."""
    n = 0
    for page in pages:
        if page != previous:
            out[n] = previous = page
            n += 1
    return n


class FixedSizes:
    """One policy ("fifo" or "clock") in memories of the given numbers of pages. Feed it batches; `faults()` returns the
    result. Memory: one byte for each size and distinct page, and four for each frame.
    """

    def __init__(self, policy: str, sizes: np.ndarray) -> None:
        self._kernel = KERNELS[policy]
        self.sizes = np.asarray(sizes, np.int64)
        self._frames = [np.full(size, NO_PAGE, np.int32) for size in self.sizes]
        self._states = [np.zeros(0, np.uint8) for _ in self.sizes]
        self._counters = np.zeros((len(self.sizes), 2), np.int64)
        self._previous = NO_PAGE

    def feed(self, batch: Batch) -> None:
        """Processes the batch's runs."""
        changes = np.empty(len(batch.pages), np.int32)
        changes = changes[: _changes(batch.pages, self._previous, changes)]
        self._previous = int(batch.pages[-1])
        for number, frames in enumerate(self._frames):
            self._states[number] = grown(self._states[number], batch.nr_pages, ABSENT)
            self._kernel(changes, frames, self._states[number], self._counters[number])

    def faults(self) -> np.ndarray:
        """i64[sizes]."""
        return self._counters[:, FAULTS].copy()
