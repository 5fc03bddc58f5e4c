"""What every structure of page tables reports about the pages of a trace.

A structure is a file in structures/ with a dictionary TABLES: a name and a function for each variant. The function gets
the pages that the trace refers to, and returns the table that maps them all, or None if its addresses are too short.
A trace says when a page is used, but not when it is unmapped. So all its pages are mapped together here, and nothing
is ever removed: `size` is the largest size that a kernel which never evicts or unmaps would see.

A walk's cost is counted in memory accesses: each entry that the walk reads is one. Caches between the walk and memory
are left out, such as the processor's caches and the caches of upper levels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tidemark.curves.runs import Array

SMALL_SHIFT, LARGE_SHIFT = 12, 22  # pages of 4 KiB and of 4 MiB


@dataclass(frozen=True)
class Table:
    """`size`: bytes of all tables. `accesses` i64[pages]: memory accesses of a walk to each page. `page_shift`: log2 of
    the bytes of the pages that the TLB holds."""

    size: int
    accesses: Array
    page_shift: int = SMALL_SHIFT


# Spaces u16[pages] and page numbers u64[pages], of 4 KiB each, all pairs distinct, in order of their first use.
Build = Callable[[Array, Array], Table | None]


def reaches(pages: np.ndarray, bits: int) -> bool:
    """True if page numbers of `bits` bits can name all pages."""
    return not np.any(pages >> np.uint64(bits))
