"""The table of variable radix: each table is as large as the pages below it need (Szmajda and Heiser, "Variable radix
page table: a page table for modern architectures", ACSAC 2003; the rule is that of the LC-trie, Nilsson and Karlsson,
"IP-address lookup using LC-tries", 1999).

An address space is sparse: its pages lie in a few clusters. A table of fixed radix spends entries on the gaps, and
levels on bits that are equal in all pages. Here an entry says which bits the table below it skips because all pages
there agree on them (the guard), and how many bits that table's index has. A page that is alone below an entry needs no
table: the entry holds its frame, and all bits left are its guard. A table gets the widest index of which at least half
of the entries are used. Dense clusters become one wide table, and a walk to a lonely page ends early.

An entry has 8 bytes: frame or table, guard and width. Each address space has a top table. A walk reads one entry for
each table on its way. The tables here are those that suit all pages of the trace. A kernel would have to change their
width as pages come and go, which is left out.
"""

from __future__ import annotations

import numpy as np

from tidemark.pagetables.table import Build, Table

ENTRY_BYTES = 8


def width_of(pages: np.ndarray) -> tuple[int, int]:
    """The bits below the index, and the width of the index, of the table for these sorted distinct pages. The index
    begins at the highest bit in which two pages differ; one page has an index of no bits.
    """
    top = int(pages[0] ^ pages[-1]).bit_length()
    for width in range(top, 0, -1):
        values = pages >> np.uint64(top - width)
        if 2 * (1 + np.count_nonzero(values[1:] != values[:-1])) >= 1 << width:
            return top - width, width
    return 0, 0


def fill(pages: np.ndarray, depth: int, accesses: np.ndarray) -> int:
    """Build the tables of the sorted pages of one space: set their `accesses` and return the number of entries."""
    below, width = width_of(pages)
    accesses[:] = depth
    values = pages >> np.uint64(below)
    cuts = np.flatnonzero(values[1:] != values[:-1]) + 1
    nr = 1 << width
    for begin, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(pages)]):
        if end - begin > 1:
            nr += fill(pages[begin:end], depth + 1, accesses[begin:end])
    return nr


def build(spaces: np.ndarray, pages: np.ndarray) -> Table:
    """The tables of these pages."""
    order = np.lexsort((pages, spaces))
    accesses = np.empty(len(pages), np.int64)
    in_order, entries = np.empty(len(pages), np.int64), 0
    cuts = np.flatnonzero(np.diff(spaces[order])) + 1
    for mine in np.split(np.arange(len(pages)), cuts):
        entries += fill(pages[order[mine]], 1, in_order[mine[0] : mine[-1] + 1])
    accesses[order] = in_order
    return Table(entries * ENTRY_BYTES, accesses)


TABLES: dict[str, Build] = {"variable radix": build}
