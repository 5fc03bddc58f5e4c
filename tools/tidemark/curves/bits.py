"""Bits of a word, without instructions that numba lacks (Warren, Hacker's Delight, 5-1, 5-3, 5-4). LLVM recognizes
`popcount`, and uses the machine's instruction for it; so `lowest_bit` is cheap, and `highest_bit` is not.
"""

from __future__ import annotations

import numpy as np

from tidemark.jit import Int, compiled

PAIRS, FOURS, BYTES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
ONES, TOP = np.uint64(0x0101010101010101), np.uint64(56)
ONE, TWO, FOUR = np.uint64(1), np.uint64(2), np.uint64(4)
DISTANCES = (ONE, TWO, FOUR, np.uint64(8), np.uint64(16), np.uint64(32))


@compiled
def popcount(word: Int) -> Int:
    """The number of set bits of a uint64, as int64."""
    word -= (word >> ONE) & PAIRS
    word = (word & FOURS) + ((word >> TWO) & FOURS)
    word = (word + (word >> FOUR)) & BYTES
    return np.int64((word * ONES) >> TOP)


@compiled
def highest_bit(word: Int) -> Int:
    """The index of the highest set bit of a uint64 that is not 0: floor(log2(word)), as uint64."""
    for distance in DISTANCES:  # set all bits below the highest
        word |= word >> distance
    return np.uint64(popcount(word)) - ONE


@compiled
def lowest_bit(word: Int) -> Int:
    """The index of the lowest set bit of a uint64 that is not 0, as uint64."""
    return np.uint64(popcount(~word & (word - ONE)))
