"""Stack distances under MIN: the fewest faults possible, for all memory sizes in one pass forward.

Belady (IBM Systems Journal 5(2), 1966) showed which page to replace: the page whose next use is farthest away. Belady
and Palermo (IBM J. Research and Development 18(1), 1974) found that the faults for every size can be computed without
looking ahead. This file does that, in terms of intervals.

A reference at t to a page last used at p is a hit if the page was kept in between, that is, at every time strictly
between p and t. At any time the referenced page takes one of C frames, so C - 1 are left to keep pages: choosing the
intervals to keep is the scheduling of intervals on C - 1 machines, and it is optimal to take each interval as its end
comes, on the machine that was free for the shortest time (Yannakakis and Gavril, Information Processing Letters 24(2),
1987).

Let a machine's value be the last time at which it kept a page. One list serves all sizes: the first C - 1 entries are
the machines of a memory of C pages. For (p, t), the first entry i with value <= p says that memories of more than i
pages hit. The entry takes the value t - 1. In larger memories the machine free for the shortest time may be another
one: entry i's old value is carried down the list and changes place with each value that is between it and p; the value
that is carried at the end is dropped. Unused entries are infinitely old and stand at the end.

The list is stored by value, not by place: `places` has for each time slot the place of the entry with that value. The
entries that change are then the right-to-left minima of `places` from p on; the last of them is entry i. A tree of
minima over 64 slots, 64 times 64 and so on skips what does not change, and 64 slots are processed at once (lanes.py;
`lane_of` says where a slot's place is stored). When the slots run out, they are renumbered in order. Then only values
keep a slot: for a page's last use only values not later than it matter, so it takes the slot of the latest of these.
"""

from __future__ import annotations

import numpy as np

from tidemark.curves.bits import highest_bit
from tidemark.curves.lanes import LANES, carry, lane_of, least, lower
from tidemark.curves.runs import Array, Batch, grown
from tidemark.jit import Int, compiled

NEVER = -1
DEAD, FIRST = np.int32(2**31 - 1), np.int32(1)
ONE = np.uint64(1)
SHIFT, MASK = np.uint64(6), np.uint64(63)
SPARE_SLOTS = 1 << 12


@compiled
def _carry_down(tree: Array, levels: Array, waiting: Array, slot: Int) -> Int:
    """Carry from `slot` down; returns the place that is carried at the end. The minima say which blocks change, and are
    updated on the way. `waiting` has for each level the blocks of a group that may have a lower place.
    """
    node, level, reached = slot >> SHIFT, 1, 0
    place, lowest = carry(tree, node << SHIFT, np.int32(slot & MASK), DEAD)
    while True:
        begin = levels[level] + (node & ~MASK)
        if level > reached:
            waiting[level] = lower(tree, begin, np.int32(node & MASK) - np.int32(1), place)
            reached = level
        tree[levels[level] + node] = lowest
        while waiting[level]:
            lane = highest_bit(waiting[level])
            waiting[level] ^= ONE << lane
            node = (node & ~MASK) | lane
            if level == 1:  # the place that leaves a block is known before the block is processed
                leaving = tree[begin + lane]
                _, tree[begin + lane] = carry(tree, node << SHIFT, np.int32(MASK), place)
                place = leaving
                continue
            level -= 1
            begin = levels[level] + (node << SHIFT)
            node = (node << SHIFT) | MASK
            waiting[level] = lower(tree, begin, np.int32(MASK), place)
        if level == len(levels) - 2:
            return place
        lowest = least(tree, begin)
        node >>= SHIFT
        level += 1


@compiled
def _put(tree: Array, levels: Array, slot: Int, place: Int) -> None:
    """Give a slot its place. The slot has none yet."""
    tree[lane_of(slot)] = place
    slot >>= SHIFT
    for level in range(1, len(levels) - 1):
        at = levels[level] + slot
        if tree[at] <= place:
            return
        tree[at] = place
        slot >>= SHIFT


@compiled
def _feed(
    pages: Array, counts: Array, begin: Int, tree: Array, levels: Array, last: Array, capacities: Array, head: Array
) -> Int:
    """Process `pages` from `begin`; `head` has the next slot, the page of the last run and the number of entries.
    Returns the index where it stopped: the end, or where the slots ran out.
    """
    slot, previous, nr_entries = np.uint64(head[0]), head[1], np.int32(head[2])
    waiting = np.zeros(len(levels), np.uint64)
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
            used, now = np.uint64(last[page]), slot - ONE
            place = tree[lane_of(used)]
            if place == FIRST and used >> SHIFT == now >> SHIFT:  # the minima stay as they are
                tree[lane_of(used)], tree[lane_of(now)] = DEAD, place
            else:
                place = _carry_down(tree, levels, waiting, used)
                if place == DEAD:
                    nr_entries += FIRST
                    place = nr_entries
                _put(tree, levels, now, place)
            capacities[place + 1] += 1
        capacities[1] += n - 1
        last[page] = slot
        slot += ONE
    head[0], head[1], head[2] = slot, previous, nr_entries
    return i


@compiled
def _renumber(places: Array, last: Array) -> Int:
    """Compact the places, in order, behind slot 0, and move the pages' last uses to the next place that is not later,
    which is all that matters of them. Returns the number of slots that are then used.
    """
    new_slots = np.empty(len(places), np.int32)
    used = 0
    for slot in range(len(places)):
        place = places[lane_of(np.uint64(slot))]
        if place != DEAD:
            used += 1
            places[lane_of(np.uint64(slot))] = DEAD
            places[lane_of(np.uint64(used))] = place
        new_slots[slot] = used
    new_slots[-1] = used + 1
    for page in range(len(last)):
        if last[page] != NEVER:
            last[page] = new_slots[last[page]]
    return used + 2


class MinDistances:
    """Computes the histogram of stack distances: call `feed` for each batch, then `capacities`."""

    def __init__(self) -> None:
        self._last = np.full(0, NEVER, np.int32)
        self._capacities = np.zeros(2, np.int64)
        self._head = np.array([0, NEVER, 0], np.int64)
        self._nr_pages = 0
        self._plant(np.empty(0, np.int32), 0)

    def feed(self, batch: Batch) -> None:
        """Add the batch's runs."""
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
        used = _renumber(places, self._last)
        self._plant(places[: -(-used // LANES) * LANES], used)

    def _plant(self, places: np.ndarray, used: int) -> None:
        """Build a tree whose first slots have the given places; `used` slots are needed. Few spare slots keep the used
        ones close together, for a long walk down the list; many spare slots make renumbering rare.
        """
        sizes = [used + used // 4 + SPARE_SLOTS]
        while sizes[-1] > LANES:
            sizes.append(-(-sizes[-1] // LANES))
        padded = [-(-size // LANES) * LANES for size in sizes]
        self._levels = np.concatenate([[0], np.cumsum(padded)]).astype(np.uint64)
        self._tree = np.full(int(self._levels[-1]), DEAD)
        self._tree[: len(places)] = places
        for below, above in zip(range(len(padded)), range(1, len(padded)), strict=False):
            children = self._tree[int(self._levels[below]) : int(self._levels[below + 1])].reshape(-1, LANES)
            start = int(self._levels[above])
            self._tree[start : start + len(children)] = children.min(axis=1)
        self._head[0] = used
