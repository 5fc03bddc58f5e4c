"""Stack distances under LRU: the faults for all memory sizes in one pass.

Mattson, Gecsei, Slutz and Traiger (IBM Systems Journal 9(2), 1970): with LRU, a memory of C pages holds the first C
entries of the stack of pages in order of last use. A reference to a page at depth d faults in exactly the memories of
fewer than d pages, so a histogram of depths gives the faults for all sizes.

The depth of a page is one more than the number of pages used since its last use. Each run of references takes the next
slot of a row of bits; only the bit of each page's last slot is set. The depth is then the number of bits set from the
page's slot on: part of a word, the words up to the end of its block, and the counts of later blocks and groups of
blocks. So near pages, the usual case, cost one word, and distant ones a few dozen additions. When the row is full, the
set bits are moved together, which renumbers the slots in order. The row has at least four slots for each distinct page:
this happens at most once in three references per page, and the row takes a few bytes per page.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidemark.curves.bits import popcount
from tidemark.curves.runs import Array, Batch, grown
from tidemark.jit import Int, compiled

# Unsigned: an index that may be negative costs a test, and keeps numba from using vector instructions.
ONE = np.uint64(1)
WORD_SHIFT, WORD_MASK = np.uint64(6), np.uint64(63)
BLOCK_SHIFT, BLOCK_MASK = np.uint64(9), np.uint64(7)  # 8 words to a block
GROUP_SHIFT, GROUP_MASK = np.uint64(13), np.uint64(15)  # 16 blocks to a group
BLOCK_SLOTS, GROUP_SLOTS = 1 << 9, 1 << 13
FIRST_SLOTS = 4 * GROUP_SLOTS
SLOTS_A_PAGE = 4
NEVER = -1


@compiled
def _later(bits: Array, blocks: Array, groups: Array, slot: Int, head: Array) -> Int:
    """The number of set bits from `slot` on; `head` is the last slot that may have one."""
    word = slot >> WORD_SHIFT
    found = popcount(bits[word] >> (slot & WORD_MASK))
    for k in range(word + ONE, (word | BLOCK_MASK) + ONE):
        found += popcount(bits[k])
    block = slot >> BLOCK_SHIFT
    for k in range(block + ONE, (block | GROUP_MASK) + ONE):
        found += blocks[k]
    for k in range((slot >> GROUP_SHIFT) + ONE, (head >> GROUP_SHIFT) + ONE):
        found += groups[k]
    return found


@compiled
def _feed(
    pages: Array, counts: Array, begin: Int, row: tuple[Any, ...], last: Array, depths: Array, head: Array
) -> Int:
    """Process `pages` from `begin`; `head` has the next slot and the page of the last run. Returns the index where it
    stopped: the end, or where the row was full.
    """
    bits, blocks, groups = row
    slot, previous = np.uint64(head[0]), head[1]
    nr_slots = np.uint64(len(bits)) << WORD_SHIFT
    i = begin
    while i < len(pages) and slot < nr_slots:
        page, n = np.int64(pages[i]), np.int64(counts[i])
        i += 1
        if page == previous:
            depths[1] += n
            continue
        previous = page
        if last[page] == NEVER:
            depths[0] += 1
        else:
            old = np.uint64(last[page])
            depths[_later(bits, blocks, groups, old, slot)] += 1
            bits[old >> WORD_SHIFT] ^= ONE << (old & WORD_MASK)
            blocks[old >> BLOCK_SHIFT] -= np.int32(1)
            groups[old >> GROUP_SHIFT] -= np.int32(1)
        depths[1] += n - 1
        bits[slot >> WORD_SHIFT] |= ONE << (slot & WORD_MASK)
        blocks[slot >> BLOCK_SHIFT] += np.int32(1)
        groups[slot >> GROUP_SHIFT] += np.int32(1)
        last[page] = slot
        slot += ONE
    head[0], head[1] = slot, previous
    return i


@compiled
def _rank(bits: Array, last: Array) -> Int:
    """Replace each page's slot by the number of set bits before it. Returns the number of set bits."""
    before = np.empty(len(bits), np.int64)
    total = 0
    for word in range(len(bits)):
        before[word] = total
        total += popcount(bits[word])
    for page in range(len(last)):
        if last[page] != NEVER:
            slot = np.uint64(last[page])
            below = (ONE << (slot & WORD_MASK)) - ONE
            last[page] = before[slot >> WORD_SHIFT] + popcount(bits[slot >> WORD_SHIFT] & below)
    return total


class StackDistances:
    """Feed it batches; `depths()` is the histogram. Memory: at most some 32 bytes per page."""

    def __init__(self) -> None:
        self._last = np.full(0, NEVER, np.int32)
        self._depths = np.zeros(2, np.int64)
        self._head = np.array([0, NEVER], np.int64)
        self._nr_pages = 0
        self._new_row(FIRST_SLOTS, 0)

    def feed(self, batch: Batch) -> None:
        """Add the batch's runs."""
        self._nr_pages = batch.nr_pages
        self._last = grown(self._last, batch.nr_pages, NEVER)
        self._depths = grown(self._depths, batch.nr_pages + 1, 0)
        done = 0
        while True:
            row = (self._bits, self._blocks, self._groups)
            done = _feed(batch.pages, batch.counts, done, row, self._last, self._depths, self._head)
            if done == len(batch.pages):
                return
            self._compact()

    def depths(self) -> np.ndarray:
        """i64[pages + 1]: element d is the number of references to a page at depth d of the stack; 0: first ones."""
        return self._depths[: self._nr_pages + 1].copy()

    def _compact(self) -> None:
        live = _rank(self._bits, self._last)
        self._new_row(max(64 * len(self._bits), -(-SLOTS_A_PAGE * live // GROUP_SLOTS) * GROUP_SLOTS), live)

    def _new_row(self, nr_slots: int, live: int) -> None:
        """Start a new row whose first `live` bits are set."""
        flags = np.zeros(nr_slots, np.uint8)
        flags[:live] = 1
        self._bits = np.packbits(flags, bitorder="little").view(np.uint64)
        self._blocks = flags.reshape(-1, BLOCK_SLOTS).sum(axis=1, dtype=np.int32)
        self._groups = flags.reshape(-1, GROUP_SLOTS).sum(axis=1, dtype=np.int32)
        self._head[0] = live
