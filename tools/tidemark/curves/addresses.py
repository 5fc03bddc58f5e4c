"""The reference map on a linear axis of addresses, as in Figures 2.1 and 2.2 of McMenamin's report.

The map of refmap.py leaves out pages that are never used. Here a row is a range of addresses, used or not, so distances
are true. Over the whole range, from the lowest to the highest page used, the stack lies far above the program, and the
program is a few rows; the lowest part of the same range shows it. Pages of files, which have no address, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidemark.curves.refmap import Cells
from tidemark.trace import FILE_PAGE

ROWS, SLICES = 300, 800
WHOLE = 1.0


@dataclass(frozen=True)
class AddressMap:
    """`counts` i64[rows, slices, kinds]; `times` i64[slices]: end of each slice. Row r has `per_row` pages from
    page `first` + r * `per_row` on. The rows are the lowest `share` (above 0, at most 1) of the range of pages used."""

    counts: np.ndarray
    times: np.ndarray
    first: int
    per_row: int
    share: float


class AddressMapBuilder(Cells):
    """Builds the map: call `feed` for each batch, then `result`. `pages` u64[pages] belong to the batches' numbers,
    `end` is the whole trace's virtual time. `files`: it has pages of files (Reader.files)."""

    def __init__(self, pages: np.ndarray, end: int, files: bool = False, share: float = WHOLE) -> None:
        own = pages < FILE_PAGE if files else np.ones(len(pages), bool)
        first, last = (int(pages[own].min()), int(pages[own].max())) if own.any() else (0, 0)
        shown = max(1, round((last + 1 - first) * share))
        self._first, self._share, self._per_row = first, share, -(-shown // ROWS)
        self._nr = -(-shown // self._per_row)
        rows = np.full(len(pages), self._nr, np.int32)  # the row after the last gathers what is not shown
        within = own & (pages < first + shown)
        rows[within] = (pages[within] - np.uint64(first)) // np.uint64(self._per_row)
        super().__init__(rows, self._nr + 1, end, SLICES)

    def result(self) -> AddressMap:
        """The map of the batches so far."""
        return AddressMap(self.counts[: self._nr], self.times, self._first, self._per_row, self._share)
