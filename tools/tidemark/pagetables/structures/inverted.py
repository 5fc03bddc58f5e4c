"""The inverted table with a hash anchor table (Chang and Mergen, "801 storage", ACM TOCS 6(1), 1988; Tuček 2.3).

The table has one entry for each frame of memory, for all address spaces together; its index is the frame. An entry
holds the space and page that the frame contains (8 bytes), and the next frame of its hash chain and rights (8 bytes).
The hash anchor table holds, for each hash, the first frame of the chain (4 bytes). A walk reads the anchor, and then
each entry of the chain up to the page's own.

The machine here has a power of two frames, the fewest that hold all pages of the trace. Both tables have one entry for
each frame. Two names for one frame are not possible, so a page that two spaces share counts twice, as in the trace.
"""

from __future__ import annotations

import numpy as np

from tidemark.pagetables import chains
from tidemark.pagetables.table import Build, Table

ANCHOR_BYTES, ENTRY_BYTES = 4, 16


def build(spaces: np.ndarray, pages: np.ndarray) -> Table:
    """The table of these pages."""
    bits = chains.slot_bits(len(pages))
    return Table((ANCHOR_BYTES + ENTRY_BYTES) << bits, 1 + chains.places(chains.slots(spaces, pages, bits)))


TABLES: dict[str, Build] = {"inverted": build}
