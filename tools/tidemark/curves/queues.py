"""FIFO and CLOCK in memories of several sizes at once.

Neither is a stack algorithm: the content of a memory of C pages need not be part of the content of a larger one
(Belady, Nelson and Shedler, CACM 12(6), 1969, found that FIFO can fault more often with more frames), so each size has
to be simulated. But if a page is resident in all memories, its reference costs a single look: a page has a word with a
bit for each memory, and only the zeros need more work.

Both are the kernel's versions: the reference that faults does not count as a use of the page, every other reference
sets its accessed bit, as do a run's later ones. A page of a file that `read` or `write` brought in is not mapped; its
first other use is a minor fault, which clears the bit, and system calls never set it. The test compares with the
kernel's own C files in the simulator (tools/vmsim).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidemark.curves.bits import lowest_bit
from tidemark.curves.runs import Array, Batch
from tidemark.jit import Int, compiled

POLICIES = ("fifo", "clock")
MAX_SIZES = 32  # two policies, each with a bit per size in one word
ONE, NONE = np.uint64(1), np.uint64(0)
FIRST_CALL = 4  # of tidemark.trace.ALL_KINDS
BEGIN, END, HAND, FAULTS = range(4)


@compiled
def _feed(
    runs: tuple[Any, ...], of_file: Array, memories: Array, queue: Array, words: tuple[Any, ...], clock: Int
) -> None:
    """Process `runs`. `words`: three arrays with a word for each page, whose bits say in which memories the page is
    resident, used and mapped. `clock`: the bits of the memories under CLOCK. In `queue`, which holds the page of each
    frame, a free frame has a number that no page has: one more than the last.
    """
    pages, kinds, counts = runs
    resident, used, mapped = words
    everyone = ~NONE >> np.uint64(64 - len(memories))
    for i in range(len(pages)):
        page = pages[i]
        missing = everyone & ~resident[page]
        if of_file[page] and kinds[i] >= FIRST_CALL:
            mapped[page] &= ~missing
        else:
            used[page] = resident[page] & mapped[page] | (everyone if counts[i] > 1 else NONE)
            mapped[page] = everyone
        resident[page] = everyone
        while missing:
            at = lowest_bit(missing)
            bit = ONE << at
            missing ^= bit
            frame = memories[at, HAND]
            while used[queue[frame]] & clock & bit:
                used[queue[frame]] ^= bit
                frame = frame + 1 if frame + 1 < memories[at, END] else memories[at, BEGIN]
            resident[queue[frame]] &= ~bit
            queue[frame] = page
            memories[at, HAND] = frame + 1 if frame + 1 < memories[at, END] else memories[at, BEGIN]
            memories[at, FAULTS] += 1


class Queues:
    """The two policies in memories of `sizes` pages, at most MAX_SIZES of them, each at least 1. `of_file` bool[pages]:
    whether a page is a file's. Feed it batches, then call `faults()`. Memory: 24 bytes per page, and 8 per frame.
    """

    def __init__(self, sizes: np.ndarray, of_file: np.ndarray) -> None:
        self.sizes = np.asarray(sizes, np.int64)
        self._of_file = of_file
        both = np.tile(self.sizes, len(POLICIES))
        ends = np.cumsum(both)
        self._memories = np.column_stack([ends - both, ends, ends - both, np.zeros(len(both), np.int64)])
        self._queue = np.full(ends[-1], len(of_file), np.int32)
        self._words = tuple(np.zeros(len(of_file) + 1, np.uint64) for _ in range(3))
        self._clock = np.uint64(((1 << len(sizes)) - 1) << len(sizes))

    def feed(self, batch: Batch) -> None:
        """Add the batch's runs."""
        runs = (batch.pages, batch.kinds, batch.counts)
        _feed(runs, self._of_file, self._memories, self._queue, self._words, self._clock)

    def faults(self) -> dict[str, np.ndarray]:
        """The number of faults, i64[sizes], by policy."""
        return dict(zip(POLICIES, self._memories[:, FAULTS].reshape(len(POLICIES), -1).copy()))
