"""The reference map: when and how a program uses each page. Figures 2.1 to 2.5 of McMenamin's report are such maps.

Pages that are never used are left out: the rows are the used pages, in order of space and address, several to a row if
there are more than MAX_ROWS; above them are pages of files. The columns are slices of virtual time. A cell counts the
references of each kind; the references of a run that lasts over several slices are spread evenly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tidemark.curves.runs import NR_KINDS, Array, Batch
from tidemark.jit import Int, compiled
from tidemark.trace import FILE_PAGE

MAX_ROWS = 600
SLICES = 800


@dataclass(frozen=True)
class ReferenceMap:
    """`counts` i64[rows, slices, kinds]; `times` i64[slices]: end of each slice; `spaces` u16[pages] and `pages`
    u64[pages] in order of row, `per_row` of them to a row (the last row may have fewer). The first `own` are the
    programs' own pages, the others are pages of files and begin a new row.
    """

    counts: np.ndarray
    times: np.ndarray
    spaces: np.ndarray
    pages: np.ndarray
    per_row: int
    own: int

    @property
    def own_rows(self) -> int:
        """The number of rows with the programs' own pages."""
        return -(-self.own // self.per_row)

    def row_of(self, index: int) -> int:
        """The row of a page, given by its index in `pages`."""
        return int(rows_of(np.array(index), self.own, self.per_row))

    def span(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The indices in `pages` of the first and the last page of each of `rows`."""
        of_file = rows >= self.own_rows
        first = rows * self.per_row - of_file * (self.own_rows * self.per_row - self.own)
        end = np.where(of_file, len(self.pages), self.own)
        return first, np.minimum(first + self.per_row, end) - 1


def rows_of(places: Array, own: int, per_row: int) -> Array:
    """The rows of pages, given by their indices; pages of files begin a new row."""
    rows: Array = np.where(places < own, places // per_row, -(-own // per_row) + (places - own) // per_row)
    return rows


@compiled
def _feed(runs: tuple[Any, ...], rows: Array, slice_length: Int, cells: Array) -> None:
    pages, kinds, counts, starts, steps = runs
    for i in range(len(pages)):
        row = cells[rows[pages[i]]]
        count, length = np.int64(counts[i]), np.int64(steps[i])
        number = (max(starts[i] + min(length, 1), 1) - 1) // slice_length
        last = (max(starts[i] + length, 1) - 1) // slice_length
        done: Int = 0
        while number < last:
            passed = np.uint64((number + 1) * slice_length - starts[i])
            due = np.int64(np.uint64(count) * passed // np.uint64(length))
            row[number, kinds[i]] += due - done
            done = due
            number += 1
        row[last, kinds[i]] += count - done


class Cells:
    """Counts references by row, slice and kind: `counts` i64[nr_rows, slices, kinds]; `times` i64[slices]: end of each
    slice. `rows` i32[pages] has the row of each of the batches' page numbers, `end` is the whole trace's virtual time,
    which is divided into at most `most_slices`."""

    def __init__(self, rows: np.ndarray, nr_rows: int, end: int, most_slices: int) -> None:
        end = max(end, 1)
        self._rows, self._slice = rows, -(-end // most_slices)
        nr_slices = -(-end // self._slice)
        self.counts = np.zeros((nr_rows, nr_slices, NR_KINDS), np.int64)
        self.times = np.minimum(np.arange(1, nr_slices + 1) * self._slice, end)

    def feed(self, batch: Batch) -> None:
        """Add the batch's runs."""
        runs = (batch.pages, batch.kinds, batch.counts, batch.starts, batch.steps)
        _feed(runs, self._rows, self._slice, self.counts)


class MapBuilder(Cells):
    """Builds the map: call `feed` for each batch, then `result`. `spaces` u16[pages] and `pages` u64[pages] belong to
    the batches' page numbers, `end` is the whole trace's virtual time. `files`: it has pages of files (Reader.files).
    `most`: the largest numbers of rows and slices (None: MAX_ROWS and SLICES).
    """

    def __init__(
        self,
        spaces: np.ndarray,
        pages: np.ndarray,
        end: int,
        files: bool = False,
        most: tuple[int, int] | None = None,
    ) -> None:
        most_rows, most_slices = most or (MAX_ROWS, SLICES)
        of_file = (pages >= FILE_PAGE) & files
        order = np.lexsort((pages, np.where(of_file, 0, spaces), of_file))
        self._own = int(np.count_nonzero(~of_file))
        self._per_row = max(1, -(-len(pages) // most_rows))
        self._spaces, self._pages = spaces[order], pages[order]
        rows = np.empty(len(pages), np.int32)
        rows[order] = rows_of(np.arange(len(pages)), self._own, self._per_row)
        super().__init__(rows, int(rows.max(initial=-1)) + 1, end, most_slices)

    def result(self) -> ReferenceMap:
        """The map of the batches so far."""
        return ReferenceMap(self.counts, self.times, self._spaces, self._pages, self._per_row, self._own)
