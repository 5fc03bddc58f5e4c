"""Hash chains, which inverted and hashed tables share.

A page's slot is a hash of its number and its space. Pages with the same slot form a chain in order of first use: a new
entry is added at the end. So a page's place in its chain never changes, and neither does the cost of its walk.

The hash multiplies by 2^64 divided by the golden ratio and takes the upper bits (Knuth, The Art of Computer
Programming, vol. 3, 6.4), which spreads consecutive page numbers evenly.
"""

from __future__ import annotations

import numpy as np

from tidemark.curves.runs import Array

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SPACE_SHIFT = np.uint64(48)  # a space's number is added above the page number


def slot_bits(nr_pages: int) -> int:
    """log2 of the number of slots: the least power of two that is not below the number of pages."""
    return max(nr_pages - 1, 1).bit_length()


def slots(spaces: np.ndarray, pages: np.ndarray, bits: int) -> Array:
    """Each page's slot, i64[pages], below 2^bits; `bits` is at least 1."""
    keys = pages ^ (spaces.astype(np.uint64) << SPACE_SHIFT)
    found: Array = ((keys * MULTIPLIER) >> np.uint64(64 - bits)).astype(np.int64)
    return found


def places(chosen: np.ndarray) -> Array:
    """Each page's place in the chain of its slot, i64[pages], from 1; `chosen` are the slots in order of first use."""
    order = np.argsort(chosen, kind="stable")
    chain = chosen[order]
    starts = np.flatnonzero(np.append(True, chain[1:] != chain[:-1]))
    lengths = np.diff(np.append(starts, len(chain)))
    found = np.empty(len(chosen), np.int64)
    found[order] = np.arange(1, len(chosen) + 1) - np.repeat(starts, lengths)
    return found
