"""The hashed table (Huck and Hays, "Architectural support for translation table management in large address space
machines", ISCA 1993; Tuček 2.3).

One table for all address spaces joins the inverted table with its anchors. The first page of a hash chain is in the
slot itself. Further ones are in overflow entries, which are allocated one by one and linked. An entry of 16 bytes
holds space and page (8 bytes), frame and rights (4), and the next entry (4). As it names its frame, several pages may
name one frame, and holes in physical memory cost nothing. A walk reads each entry of the chain up to the page's own:
one access less than in the inverted table, because there is no anchor to read.

The table has a power of two slots, the fewest that are not less than the pages of the trace.
"""

from __future__ import annotations

import numpy as np

from tidemark.pagetables import chains
from tidemark.pagetables.table import Build, Table

ENTRY_BYTES = 16


def build(spaces: np.ndarray, pages: np.ndarray) -> Table:
    """The table of these pages."""
    bits = chains.slot_bits(len(pages))
    accesses = chains.places(chains.slots(spaces, pages, bits))
    overflow = int(np.count_nonzero(accesses > 1))
    return Table(((1 << bits) + overflow) * ENTRY_BYTES, accesses)


TABLES: dict[str, Build] = {"hashed": build}
