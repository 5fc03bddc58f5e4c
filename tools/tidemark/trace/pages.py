"""From references to numbered pages: every source of a trace uses this.

A reference is a kind, a byte address and a size. `RunBuilder` makes runs of pages from references: one that straddles
the border of two pages counts on both, and consecutive references of the same kind to the same page become one run. An
instruction counts once, on the page where it begins; virtual time is counted in instructions.

`PageTable` numbers the distinct pairs (space, page) from 0 in order of their first appearance. It is an open-addressing
hash table (linear probing, at most half full) of numbers into two dense columns, so its memory is 18 to 36 bytes for
each distinct page, however long the trace. Consumers index plain arrays by these numbers.
"""

from __future__ import annotations

import numpy as np

from tidemark.jit import Int, compiled
from tidemark.trace import ALL_KINDS, INSTRUCTION, MAX_COUNT, MAX_SPACES, PAGE_SHIFT

Array = np.ndarray
Columns = tuple[Array, Array, Array, Array]

MAX_SIZE = 1 << PAGE_SHIFT
FIRST_CAPACITY = 1 << 10
EMPTY = np.uint32(0xFFFFFFFF)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
SPACE_STEP = np.uint64(0xD6E8FEB86659FD93)
SHIFT = np.uint64(PAGE_SHIFT)


@compiled
def _slot(space: Int, page: Int, nr_slots: Int) -> Int:
    """Where the search for a pair begins: multiplicative hashing, by the upper half of the product."""
    key = np.uint64(page) * GOLDEN ^ np.uint64(space) * SPACE_STEP
    key = (key ^ (key >> np.uint64(32))) * GOLDEN
    return (key >> np.uint64(32)) & np.uint64(nr_slots - 1)


@compiled
def _number(
    spaces: Array,
    pages: Array,
    start: Int,
    slots: Array,
    known_spaces: Array,
    known_pages: Array,
    known: Int,
    ids: Array,
) -> tuple[Int, Int]:
    """Fill `ids` from `start`; returns (next, known), and next < len(pages) when the columns are full."""
    mask = np.uint64(len(slots) - 1)
    for i in range(start, len(pages)):
        at = _slot(spaces[i], pages[i], len(slots))
        while slots[at] != EMPTY:
            if known_pages[slots[at]] == pages[i] and known_spaces[slots[at]] == spaces[i]:
                break
            at = (at + np.uint64(1)) & mask
        if slots[at] == EMPTY:
            if known == len(known_pages):
                return i, known
            slots[at] = known
            known_spaces[known] = spaces[i]
            known_pages[known] = pages[i]
            known += 1
        ids[i] = slots[at]
    return len(pages), known


@compiled
def _fill_slots(slots: Array, known_spaces: Array, known_pages: Array, known: Int) -> None:
    """Enter the first `known` pairs into an empty table."""
    mask = np.uint64(len(slots) - 1)
    for number in range(known):
        at = _slot(known_spaces[number], known_pages[number], len(slots))
        while slots[at] != EMPTY:
            at = (at + np.uint64(1)) & mask
        slots[at] = number


class PageTable:
    """Numbers for pairs (space, page). There are `known` pairs: `spaces[:known]`, `pages[:known]`."""

    def __init__(self) -> None:
        self.known = 0
        self.spaces = np.empty(FIRST_CAPACITY, np.uint16)
        self.pages = np.empty(FIRST_CAPACITY, np.uint64)
        self._slots = np.full(2 * FIRST_CAPACITY, EMPTY, np.uint32)

    def number(self, spaces: Array, pages: Array) -> Array:
        """Numbers u32[n] of the pairs (spaces u16[n], pages u64[n]); new pairs get the next ones in order."""
        ids = np.empty(len(pages), np.uint32)
        done = 0
        while True:
            done, self.known = _number(spaces, pages, done, self._slots, self.spaces, self.pages, self.known, ids)
            if done == len(pages):
                return ids
            self._grow()

    def _grow(self) -> None:
        self.spaces = np.concatenate([self.spaces, np.empty_like(self.spaces)])
        self.pages = np.concatenate([self.pages, np.empty_like(self.pages)])
        self._slots = np.full(2 * len(self._slots), EMPTY, np.uint32)
        _fill_slots(self._slots, self.spaces, self.pages, self.known)


@compiled
def _count(
    spaces: Array, kinds: Array, counts: Array, insns: Array, references: Array, instructions: Array, runs: Array
) -> None:
    for i in range(len(spaces)):
        references[spaces[i], kinds[i]] += counts[i]
        instructions[spaces[i]] += insns[i]
        runs[spaces[i]] += 1


class Counters:
    """Running totals by space: `references` u64[spaces, kinds], `instructions` and `runs` u64[spaces]."""

    def __init__(self) -> None:
        self.references = np.zeros((MAX_SPACES, len(ALL_KINDS)), np.uint64)
        self.instructions = np.zeros(MAX_SPACES, np.uint64)
        self.runs = np.zeros(MAX_SPACES, np.uint64)

    def add(self, spaces: Array, kinds: Array, counts: Array, insns: Array) -> None:
        """Count runs, columns of equal length."""
        _count(spaces, kinds, counts, insns, self.references, self.instructions, self.runs)


@compiled
def _merge(
    kinds: Array,
    addresses: Array,
    sizes: Array,
    run: Array,
    pages_out: Array,
    kinds_out: Array,
    counts_out: Array,
    insns_out: Array,
) -> Int:
    """Append the runs that end within these references; returns their number. `run` is the open run: page, kind, count,
    instructions; count is 0 if none is open.
    """
    page, kind, count, insns = run[0], run[1], run[2], run[3]
    done = 0
    for i in range(len(kinds)):
        first = addresses[i] >> SHIFT
        last = (addresses[i] + np.uint64(sizes[i]) - np.uint64(1)) >> SHIFT
        for touched in (first, last):
            if touched != page or kinds[i] != kind or count == MAX_COUNT:
                if count:
                    pages_out[done], kinds_out[done] = page, kind
                    counts_out[done], insns_out[done] = count, insns
                    done += 1
                page, kind = touched, np.uint64(kinds[i])
                count, insns = np.uint64(0), np.uint64(0)
            count += np.uint64(1)
            if touched == first and kinds[i] == INSTRUCTION:
                insns += np.uint64(1)
            if first == last:
                break
    run[0], run[1], run[2], run[3] = page, kind, count, insns
    return done


class RunBuilder:
    """Merges the references of one space into runs. The last run stays open until `finish`."""

    def __init__(self) -> None:
        self._run = np.zeros(4, np.uint64)

    def add(self, kinds: Array, addresses: Array, sizes: Array) -> Columns:
        """Runs that ended: pages u64, kinds u8, counts u32, insns u32, from references kinds u8[n], addresses u64[n]
        (bytes) and sizes u32[n] (1 to MAX_SIZE bytes; no reference wraps around the end of the address space).
        """
        most = 2 * len(kinds)
        out: Columns = (
            np.empty(most, np.uint64),
            np.empty(most, np.uint8),
            np.empty(most, np.uint32),
            np.empty(most, np.uint32),
        )
        done = _merge(kinds, addresses, sizes, self._run, *out)
        pages, kinds, counts, insns = (column[:done] for column in out)
        return pages, kinds, counts, insns

    def finish(self) -> Columns:
        """The open run, if there is one: columns of length 1 or 0."""
        page, kind, count, insns = self._run
        here = slice(0, 1 if count else 0)
        self._run[:] = 0
        return (
            np.array([page], np.uint64)[here],
            np.array([kind], np.uint8)[here],
            np.array([count], np.uint32)[here],
            np.array([insns], np.uint32)[here],
        )
