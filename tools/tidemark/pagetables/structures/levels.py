"""Forward-mapped tables of two, three and four levels (Intel SDM vol. 3, chapter 4).

The page number is cut into one index for each level, the top level first. An entry of an upper level holds the frame of
a table of the next level, and is empty if no page below it is mapped. Each address space has a top table; any other
table exists if a page below it is mapped. A walk reads one entry for each level.

Two levels are IA-32's 10 + 10 bits with entries of 4 bytes, which this kernel uses. Three are PAE's 2 + 9 + 9, and four
are x86-64's 9 + 9 + 9 + 9, with entries of 8 bytes.

With pages of 4 MiB, IA-32's directory is the whole table: its entry holds the frame of the large page, and a walk reads
one entry. The table is smaller by its lower level, and a TLB entry maps 1024 times as much. The price is memory: a
large page occupies 4 MiB, however little of it is used.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tidemark.curves.runs import Array
from tidemark.pagetables.table import LARGE_SHIFT, SMALL_SHIFT, Build, Table, reaches


def tables_at(spaces: np.ndarray, pages: np.ndarray, bits_below: int) -> int:
    """The number of tables whose index leaves `bits_below` bits of the page number above it undivided."""
    pairs = np.stack([spaces.astype(np.uint64), pages >> np.uint64(bits_below)])
    return int(np.unique(pairs, axis=1).shape[1])


def build(
    widths: tuple[int, ...], entry_bytes: int, page_shift: int, spaces: np.ndarray, pages: np.ndarray
) -> Table | None:
    """The tables of levels with indexes of `widths` bits, top level first."""
    covered = page_shift - SMALL_SHIFT  # bits of a page number of 4 KiB below all levels not yet counted
    if not reaches(pages, covered + sum(widths)):
        return None
    size = 0
    for width in reversed(widths):
        covered += width
        size += tables_at(spaces, pages, covered) * (entry_bytes << width)
    accesses: Array = np.full(len(pages), len(widths), np.int64)
    return Table(size, accesses, page_shift)


TABLES: dict[str, Build] = {
    "two levels": partial(build, (10, 10), 4, SMALL_SHIFT),
    "three levels": partial(build, (2, 9, 9), 8, SMALL_SHIFT),
    "four levels": partial(build, (9, 9, 9, 9), 8, SMALL_SHIFT),
    "4 MiB pages": partial(build, (10,), 4, LARGE_SHIFT),
}
