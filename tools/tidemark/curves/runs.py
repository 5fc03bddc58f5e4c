"""The part of a trace from which curves are drawn: some spaces, kinds and pages, as runs of numbered pages with their
time.

There are two virtual times. In references, the k-th selected reference happens at k. In instructions, time is the
number of instructions that the selected spaces have begun, whether their references are selected or not. A run from
`start` that lasts `steps` spreads its n references evenly: the k-th happens at start + ceil(k * steps / n). This is
exact for instruction fetches, each of which is a step, and for runs without steps; otherwise a trace cannot resolve
times within a run. In references, a run's steps are its references, so the code below knows only one kind of time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tidemark.jit import Int, compiled
from tidemark.trace import ALL_KINDS, FILE_PAGE
from tidemark.trace.format import Block

Array = np.ndarray
NR_KINDS = len(ALL_KINDS)
OTHER_SPACE, OTHER_PAGE, NOT_YET = -3, -2, -1
FIRST_CAPACITY = 1024


class Batch(NamedTuple):
    """Consecutive selected runs: `pages` i32[n] numbered from 0 in order of first appearance, `kinds` u8[n], `counts`
    u32[n], and in units of the chosen time `starts` i64[n] and `steps` u32[n]; `nr_pages` have appeared so far.
    """

    pages: np.ndarray
    kinds: np.ndarray
    counts: np.ndarray
    starts: np.ndarray
    steps: np.ndarray
    nr_pages: int


@dataclass(frozen=True)
class Choice:
    """What to select: a space (None: all, as one memory), kinds, pages from `first` to `last`, both included."""

    space: int | None = None
    kinds: tuple[int, ...] = tuple(range(NR_KINDS))
    first: int = 0
    last: int = (1 << 52) - 1


@dataclass
class Totals:
    """The selection so far, in numbers. `instructions` is the virtual time of the spaces."""

    references: int = 0
    instructions: int = 0
    runs: int = 0
    pages: int = 0
    by_kind: list[int] = field(default_factory=lambda: [0] * NR_KINDS)


def grown(array: np.ndarray, length: int, fill: int) -> np.ndarray:
    """`array` if it has `length` elements, otherwise a copy of at least twice the size, padded with `fill`."""
    if len(array) >= length:
        return array
    more = np.full(max(length, 2 * len(array)) - len(array), fill, array.dtype)
    return np.concatenate([array, more])


@compiled
def _select(runs: tuple[Any, ...], wanted: Array, numbers: Array, totals: Array, selected: tuple[Any, ...]) -> Int:
    """Copy selected runs from the columns `runs` to the columns `selected`; returns their number. `totals`:
    instructions, pages, then references by kind. If spaces share a page, `firsts` has one of its ids for all of them.
    """
    ids, firsts, kinds, counts, insns = runs
    pages, selected_kinds, selected_counts, starts, steps = selected
    now, nr_pages, n = totals[0], totals[1], 0
    for i in range(len(ids)):
        page = numbers[ids[i]]
        if page == OTHER_SPACE:
            continue
        if page != OTHER_PAGE and wanted[kinds[i]]:
            if page == NOT_YET:
                page = numbers[firsts[i]]
                if page < 0:
                    page = nr_pages
                    numbers[firsts[i]] = page
                    nr_pages += 1
                numbers[ids[i]] = page
            pages[n], selected_kinds[n], selected_counts[n] = page, kinds[i], counts[i]
            starts[n], steps[n] = now, insns[i]
            totals[2 + kinds[i]] += counts[i]
            n += 1
        now += insns[i]
    totals[0], totals[1] = now, nr_pages
    return n


class Selection:
    """Turns a trace's blocks into batches. After the last one, `totals` and `pages()` are those of the trace. `files`:
    the trace has pages of files (Reader.files), and each is the same page in all spaces.
    """

    def __init__(self, choice: Choice, in_references: bool = False, files: bool = False) -> None:
        self._files = files
        self._firsts = np.empty(FIRST_CAPACITY, np.int64)
        self._first_of: dict[int, int] = {}  # by page of a file
        self._choice = choice
        self._in_references = in_references
        self._wanted = np.isin(np.arange(NR_KINDS), choice.kinds)
        self._numbers = np.empty(FIRST_CAPACITY, np.int32)
        self._known_spaces = np.empty(FIRST_CAPACITY, np.uint16)
        self._known_pages = np.empty(FIRST_CAPACITY, np.uint64)
        self._nr_known = 0
        self._totals = np.zeros(2 + NR_KINDS, np.int64)
        self._runs = 0

    def batches(self, blocks: Iterator[Block]) -> Iterator[Batch]:
        """One batch for each block with selected runs."""
        for block in blocks:
            batch = self._batch(block)
            if len(batch.pages):
                yield batch

    @property
    def totals(self) -> Totals:
        """The totals of the selection so far."""
        instructions, pages, *by_kind = self._totals.tolist()
        return Totals(sum(by_kind), instructions, self._runs, pages, by_kind)

    def pages(self) -> tuple[np.ndarray, np.ndarray]:
        """Space u16[pages] and virtual page number u64[pages] of each page, as batches number them."""
        numbers = self._numbers[: self._nr_known]
        selected = np.flatnonzero((numbers >= 0) & (self._firsts[: self._nr_known] == np.arange(self._nr_known)))
        in_order = selected[np.argsort(numbers[selected])]
        return self._known_spaces[in_order], self._known_pages[in_order]

    def _enter(self, spaces: np.ndarray, pages: np.ndarray) -> None:
        """Add the pages that are new in a block."""
        length = self._nr_known + len(pages)
        self._numbers = grown(self._numbers, length, 0)
        self._known_spaces = grown(self._known_spaces, length, 0)
        self._known_pages = grown(self._known_pages, length, 0)
        self._firsts = grown(self._firsts, length, 0)
        self._firsts[self._nr_known : length] = self._first_ids(spaces, pages)
        inside = (pages >= self._choice.first) & (pages <= self._choice.last)
        numbers = np.where(inside, NOT_YET, OTHER_PAGE)
        if self._choice.space is not None:
            numbers[spaces != self._choice.space] = OTHER_SPACE
        self._numbers[self._nr_known : length] = numbers
        self._known_spaces[self._nr_known : length] = spaces
        self._known_pages[self._nr_known : length] = pages
        self._nr_known = length

    def _first_ids(self, spaces: np.ndarray, pages: np.ndarray) -> np.ndarray:
        """The ids of these new pages; a page of a file that another space has used keeps its id from there."""
        ids = np.arange(self._nr_known, self._nr_known + len(pages))
        if not self._files:
            return ids
        shared = pages >= FILE_PAGE
        if self._choice.space is not None:
            shared &= spaces == self._choice.space
        for at in np.flatnonzero(shared).tolist():
            ids[at] = self._first_of.setdefault(int(pages[at]), int(ids[at]))
        return ids

    def _batch(self, block: Block) -> Batch:
        self._enter(block.new_spaces, block.new_pages)
        length = len(block.ids)
        references = int(self._totals[2:].sum())
        types = (np.int32, np.uint8, np.uint32, np.int64, np.uint32)
        columns: tuple[np.ndarray, ...] = tuple(np.empty(length, one) for one in types)
        firsts = self._firsts[block.ids] if self._files else block.ids
        runs = (block.ids, firsts, block.kinds, block.counts, block.insns)
        n = _select(runs, self._wanted, self._numbers, self._totals, columns)
        pages, kinds, counts, starts, steps = (column[:n] for column in columns)
        self._runs += n
        if self._in_references:
            starts = references + np.cumsum(counts, dtype=np.int64) - counts
            steps = counts
        return Batch(pages, kinds, counts, starts, steps, int(self._totals[1]))


@compiled
def first_and_last(start: Int, steps: Int, count: Int) -> tuple[Int, Int]:
    """The times of a run's first and last reference. Time before the first instruction counts as part of it."""
    first = start + (min(steps, 1) if steps <= count else (steps + count - 1) // count)
    return max(first, 1), max(start + steps, 1)
