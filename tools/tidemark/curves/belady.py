"""Stack distances under MIN: the fewest faults possible, for all memory sizes in one pass forward.

Belady (IBM Systems Journal 5(2), 1966) showed which page to replace: the one whose next use is farthest away. Belady
and Palermo (IBM J. Research and Development 18(1), 1974) found that the faults for every size can be had without
looking ahead. What follows is that, in terms of intervals.

A reference at t to a page used before at p is a hit if the page was kept meanwhile, that is, at every time strictly
between p and t. At any time the page referenced takes one of C frames, so C - 1 are left to keep pages: which
intervals can be kept is the scheduling of intervals on C - 1 machines, and taking each as its end comes, on the
machine that was free for the shortest time, is optimal (Yannakakis and Gavril, Information Processing Letters 24(2),
1987).

Let a machine's value be the last time at which it kept a page. One list serves all sizes: the first C - 1 entries are
the machines of a memory of C pages. For (p, t) the first entry i with value <= p says that memories of more than i
pages hit. It takes the value t - 1. In larger memories the machine free for the shortest time may be another one:
entry i's old value is carried down the list and changes place with each value that is between it and p; what is
carried at the end is dropped. Entries nobody has used are infinitely old and stand at the end.

The list is stored by value, not by place: `places` has for each time slot the place of the entry with that value. The
entries that change are then the right-to-left minima of `places` from p on, the last of them being entry i. A tree of
minima over 16 slots, 16 times 16 and so on passes over what does not change. Slots are renumbered in order when they
run out; the values and the pages' last uses take at most two slots a page.
"""

from __future__ import annotations

import numpy as np

from tidemark.curves.runs import Array, Batch, grown
from tidemark.jit import Int, compiled

NEVER = -1
DEAD = np.int32(2**31 - 1)
ONE = np.uint64(1)
RADIX_SHIFT, RADIX = np.uint64(4), np.uint64(16)
SPARE_SLOTS = 1 << 12


@compiled
def _last_block_below(tree: Array, levels: Array, index: Int, bound: Int) -> Int:
    """The last block of 16 slots, at or before `index`, that has a place below `bound`; -1 when there is none."""
    level, found = 1, np.int64(-1)
    while True:
        begin = index & ~(RADIX - ONE)
        for k in range(RADIX):
            if begin + k <= index and tree[levels[level] + begin + k] < bound:
                found = np.int64(begin + k)
        if found >= 0:
            break
        index >>= RADIX_SHIFT
        if index == 0 or level + 2 == len(levels):
            return found
        index -= ONE
        level += 1
    while level > 1:
        level -= 1
        begin = np.uint64(found) << RADIX_SHIFT
        for k in range(RADIX):
            if tree[levels[level] + begin + k] < bound:
                found = np.int64(begin + k)
    return found


@compiled
def _carry_down(tree: Array, slot: Int, place: Int) -> Int:
    """Exchange `place` with each lower one from `slot` to the beginning of its block; returns what is carried then."""
    for back in range((slot & (RADIX - ONE)) + ONE):
        here = tree[slot - back]
        tree[slot - back] = max(here, place)
        place = min(here, place)
    return place


@compiled
def _raise_minima(tree: Array, levels: Array, block: Int) -> None:
    """Correct the minima above a block whose places have changed."""
    index = block
    for level in range(len(levels) - 2):
        begin = levels[level] + (index << RADIX_SHIFT)
        least = DEAD
        for k in range(RADIX):
            least = min(least, tree[begin + k])
        above = levels[level + 1] + index
        if tree[above] == least:
            return
        tree[above] = least
        index >>= RADIX_SHIFT


@compiled
def _keep(tree: Array, levels: Array, used: Int, slot: Int, nr_entries: Int) -> Int:
    """Take the interval from slot `used` to before `slot`; returns the place of its machine. The minima above the block
    of `used` are corrected last, because the new value often falls into the same block and leaves them as they are.
    """
    place = _carry_down(tree, used, DEAD)
    block = used >> RADIX_SHIFT
    while block and place > 1:
        found = _last_block_below(tree, levels, block - ONE, place)
        if found < 0:
            break
        block = np.uint64(found)
        place = _carry_down(tree, (block << RADIX_SHIFT) + RADIX - ONE, place)
        _raise_minima(tree, levels, block)
    if place == DEAD:
        place = nr_entries + np.int32(1)
    tree[slot - ONE] = place
    _raise_minima(tree, levels, used >> RADIX_SHIFT)
    if (slot - ONE) >> RADIX_SHIFT != used >> RADIX_SHIFT:
        _raise_minima(tree, levels, (slot - ONE) >> RADIX_SHIFT)
    return place


@compiled
def _feed(
    pages: Array, counts: Array, begin: Int, tree: Array, levels: Array, last: Array, capacities: Array, head: Array
) -> Int:
    """Run through `pages` from `begin`; `head` has the next slot, the page of the last run and the number of entries.
    Returns where it stopped: at the end, or when the slots ran out.
    """
    slot, previous, nr_entries = np.uint64(head[0]), head[1], np.int32(head[2])
    i = begin
    while i < len(pages) and slot < levels[1]:
        page, n = np.int64(pages[i]), np.int64(counts[i])
        i += 1
        if page == previous:
            capacities[1] += n
            continue
        previous = page
        if last[page] == NEVER:
            capacities[0] += 1
        else:
            place = _keep(tree, levels, np.uint64(last[page]), slot, nr_entries)
            nr_entries = max(nr_entries, place)
            capacities[place + 1] += 1
        capacities[1] += n - 1
        last[page] = slot
        slot += ONE
    head[0], head[1], head[2] = slot, previous, nr_entries
    return i


@compiled
def _renumber(places: Array, last: Array, new_slots: Array) -> Int:
    """Number the slots in use in order; moves the pages' last uses. Returns how many are in use."""
    for page in range(len(last)):
        if last[page] != NEVER:
            new_slots[last[page]] = 1
    used = 0
    for slot in range(len(places)):
        if places[slot] != DEAD or new_slots[slot]:
            new_slots[slot] = used
            used += 1
    for page in range(len(last)):
        if last[page] != NEVER:
            last[page] = new_slots[last[page]]
    return used


class MinDistances:
    """Feed it batches; `capacities()` is the histogram."""

    def __init__(self) -> None:
        self._last = np.full(0, NEVER, np.int32)
        self._capacities = np.zeros(2, np.int64)
        self._head = np.array([0, NEVER, 0], np.int64)
        self._nr_pages = 0
        self._plant(np.empty(0, np.int32), 0)

    def feed(self, batch: Batch) -> None:
        """Take account of the batch's runs."""
        self._nr_pages = batch.nr_pages
        self._last = grown(self._last, batch.nr_pages, NEVER)
        self._capacities = grown(self._capacities, batch.nr_pages + 2, 0)
        done = 0
        while True:
            state = (self._tree, self._levels, self._last, self._capacities, self._head)
            done = _feed(batch.pages, batch.counts, done, *state)
            if done == len(batch.pages):
                return
            self._compact()

    def capacities(self) -> np.ndarray:
        """i64[pages + 1]: element c is the number of references that hit in memories of c pages and more and fault in
        smaller ones; 0: first references, which always fault.
        """
        return self._capacities[: self._nr_pages + 1].copy()

    def _compact(self) -> None:
        places = self._tree[: int(self._levels[1])]
        new_slots = np.zeros(len(places), np.int32)
        used = _renumber(places, self._last, new_slots)
        kept = places != DEAD
        moved = np.full(used, DEAD)
        moved[new_slots[kept]] = places[kept]
        self._plant(moved, used)

    def _plant(self, places: np.ndarray, used: int) -> None:
        """A tree whose first slots have the given places, `used` of them needed. Few spare slots keep what is in use
        close together, which a long walk down the list gains more from than renumbering seldom.
        """
        sizes = [used + used // 4 + SPARE_SLOTS]
        while sizes[-1] > 16:
            sizes.append(-(-sizes[-1] // 16))
        padded = [max(16, -(-size // 16) * 16) for size in sizes]
        self._levels = np.concatenate([[0], np.cumsum(padded)]).astype(np.uint64)
        self._tree = np.full(int(self._levels[-1]), DEAD)
        self._tree[: len(places)] = places
        for below, above in zip(range(len(padded)), range(1, len(padded)), strict=False):
            children = self._tree[int(self._levels[below]) : int(self._levels[below + 1])].reshape(-1, 16)
            start = int(self._levels[above])
            self._tree[start : start + len(children)] = children.min(axis=1)
        self._head[0] = used
