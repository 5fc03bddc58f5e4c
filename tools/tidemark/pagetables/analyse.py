"""Page tables and TLBs under a trace, in two passes over it.

The first pass collects the pages, from which the structures are built. The second feeds every TLB. A miss costs the
memory accesses of the walk to its page:

    hardware refill = misses × accesses × access_cycles
    software refill = misses × (trap_cycles + accesses × access_cycles)

The processor walks the table itself, or it traps, and a handler walks it. Both constants are assumptions, because this
emulator has no cost of memory. The table's own accesses do not go through the TLB here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tidemark.curves.runs import Array, Batch, Choice, Selection
from tidemark.errors import USAGE, LabError
from tidemark.pagetables.structures import all_tables
from tidemark.pagetables.table import LARGE_SHIFT, SMALL_SHIFT, Table
from tidemark.pagetables.tlb import Tlb
from tidemark.trace import FILE_PAGE
from tidemark.trace.format import Reader

PASSES = 2
ENTRIES = (8, 16, 32, 64, 128, 256, 512)
WAYS = (1, 2, 4)
FULL = 0  # in place of a number of ways: fully associative
PAGE_SHIFTS = {SMALL_SHIFT: "4 KiB", 16: "64 KiB", LARGE_SHIFT: "4 MiB"}
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """The references, the TLB of the table of costs, and the cycles of one memory access and of a trap."""

    choice: Choice
    entries: int
    ways: int
    access_cycles: int
    trap_cycles: int


@dataclass(frozen=True)
class Row:
    """One structure of page tables: bytes of `size`, bytes of memory that its pages `hold`, TLB `misses`, memory
    `accesses` of all walks, and cycles of all refills."""

    name: str
    size: int
    hold: int
    misses: int
    accesses: int
    hardware_cycles: int
    software_cycles: int


@dataclass(frozen=True)
class Analysis:
    """The results. `misses` of each TLB by log2 of its page size, entries, and ways. `too_short`: the structures whose
    addresses do not reach all pages."""

    plan: Plan
    references: int
    pages: int
    rows: tuple[Row, ...]
    too_short: tuple[str, ...]
    misses: dict[tuple[int, int, int], int]


class Numbered:
    """Pages of 2^`page_shift` bytes, numbered from 0: `of` i32[small pages] is the number of the page in which each
    page of 4 KiB lies, `numbers` u64[pages] their page numbers."""

    def __init__(self, spaces: np.ndarray, pages: np.ndarray, page_shift: int) -> None:
        pairs = np.stack([spaces.astype(np.uint64), pages >> np.uint64(page_shift - SMALL_SHIFT)])
        found, of = np.unique(pairs, axis=1, return_inverse=True)
        self.of: Array = of.reshape(-1).astype(np.int32)
        self.numbers = found[1]


class Grid:
    """The TLBs of all ENTRIES and WAYS with pages of one size, and the plan's own TLB."""

    def __init__(self, pages: Numbered, plan: Plan) -> None:
        self.pages = pages
        self.chosen = Tlb(pages.numbers, plan.entries // plan.ways, plan.ways)
        self._full = Tlb(pages.numbers, 1, ENTRIES[-1])
        sets = sorted({entries // ways for entries in ENTRIES for ways in WAYS})
        self._by_sets = {nr: Tlb(pages.numbers, nr, WAYS[-1]) for nr in sets}

    def feed(self, batch: Batch) -> None:
        """Add the batch's runs. Of consecutive runs in one page only the first can miss."""
        pages = self.pages.of[batch.pages]
        pages = pages[np.append(True, pages[1:] != pages[:-1])]
        for tlb in (self.chosen, self._full, *self._by_sets.values()):
            tlb.feed(pages)

    def misses(self) -> dict[tuple[int, int], int]:
        """The misses by entries and ways."""
        full = {(entries, FULL): self._full.misses_with(entries) for entries in ENTRIES}
        pairs = [(entries, ways) for entries in ENTRIES for ways in WAYS]
        return full | {(entries, ways): self._by_sets[entries // ways].misses_with(ways) for entries, ways in pairs}


def _batches(reader: Reader, number: int, progress: Progress, selection: Selection) -> Iterator[Batch]:
    runs = reader.totals["runs"]
    done = number * runs
    for block in reader:
        yield from selection.batches(iter([block]))
        done += len(block.ids)
        progress(done, PASSES * runs)


def _selection(reader: Reader, plan: Plan) -> Selection:
    return Selection(plan.choice, in_references=True, files=bool(reader.files))


def _collect(reader: Reader, plan: Plan, progress: Progress) -> Selection:
    """The selection after the whole trace. Raises LabError if it contains no reference."""
    selection = _selection(reader, plan)
    for _ in _batches(reader, 0, progress, selection):
        pass
    if not selection.totals.references:
        why = "has an address, because its pages are those of files" if reader.files else "is selected"
        raise LabError(f"{reader.path}: no reference {why}: `tidemark trace info` shows what it has", USAGE)
    return selection


def with_addresses(reader: Reader, choice: Choice) -> Choice:
    """The choice without pages of files, which a trace knows by file and place, not by address."""
    last = min(choice.last, FILE_PAGE - 1) if reader.files else choice.last
    return Choice(choice.space, choice.kinds, choice.first, last)


def _row(name: str, table: Table, plan: Plan, grid: Grid) -> Row:
    of_page = grid.chosen.misses
    each = np.zeros(len(of_page), np.int64)
    each[grid.pages.of] = table.accesses  # equal for all parts of a large page
    misses, accesses = int(of_page.sum()), int(of_page @ each)
    cycles = accesses * plan.access_cycles
    hold = len(of_page) << table.page_shift
    return Row(name, table.size, hold, misses, accesses, cycles, cycles + misses * plan.trap_cycles)


def analyse(reader: Reader, plan: Plan, progress: Progress = lambda done, total: None) -> Analysis:
    """Compute everything. Raises TraceError if the trace is damaged, LabError if no reference has an address."""
    selection = _collect(reader, plan, progress)
    spaces, pages = selection.pages()
    grids = {shift: Grid(Numbered(spaces, pages, shift), plan) for shift in PAGE_SHIFTS}
    for batch in _batches(reader, 1, progress, _selection(reader, plan)):
        for grid in grids.values():
            grid.feed(batch)
    tables = {name: build(spaces, pages) for name, build in all_tables().items()}
    rows = tuple(_row(name, table, plan, grids[table.page_shift]) for name, table in tables.items() if table)
    too_short = tuple(name for name, table in tables.items() if not table)
    misses = {(shift, *key): nr for shift, grid in grids.items() for key, nr in grid.misses().items()}
    return Analysis(plan, selection.totals.references, len(pages), rows, too_short, misses)
