"""A TLB that replaces the least recently used translation of a set.

It has sets of `ways` translations. A page's set is its page number modulo the number of sets, so one set is a fully
associative TLB, and one way a direct-mapped one. A translation carries its address space's number: a switch of address
space empties nothing. (IA-32 without PCID, as in this kernel, empties the TLB.)

Each set is a stack in order of last use, as in Mattson, Gecsei, Slutz and Traiger (IBM Systems Journal 9(2), 1970). A
page at depth d of its set's stack misses in exactly the TLBs of as many sets with fewer than d ways. So one pass gives
the misses for all numbers of ways up to `ways`. A run of references to one page can only miss at its first one.
"""

from __future__ import annotations

import numpy as np

from tidemark.curves.runs import Array
from tidemark.jit import Int, compiled

EMPTY = -1


@compiled
def _feed(ids: Array, sets: Array, stacks: Array, depths: Array, misses: Array) -> None:
    """Process references to the pages `ids`, whose sets are `sets`[id]. `stacks` is i32[sets, ways]; a reference at
    depth d is counted in depths[d], one that misses in depths[0] and in misses[id]."""
    ways = stacks.shape[1]
    for i in range(len(ids)):
        page = ids[i]
        stack = stacks[sets[page]]
        if stack[0] == page:
            depths[1] += 1
            continue
        carried, depth = page, 0
        while depth < ways and (depth == 0 or carried != page):
            stack[depth], carried = carried, stack[depth]
            depth += 1
        if carried == page:
            depths[depth] += 1
        else:
            depths[0] += 1
            misses[page] += 1


class Tlb:
    """Feed it the runs' pages. `numbers` u64[pages] are the page numbers, by which sets are chosen.

    `depths` i64[ways + 1]: hits at each depth, and misses in element 0. `misses` i64[pages]: misses of each page.
    """

    def __init__(self, numbers: np.ndarray, sets: int, ways: int) -> None:
        self._sets: Array = (numbers % np.uint64(sets)).astype(np.int32)
        self._stacks = np.full((sets, ways), EMPTY, np.int32)
        self.depths = np.zeros(ways + 1, np.int64)
        self.misses = np.zeros(len(numbers), np.int64)

    def feed(self, pages: np.ndarray) -> None:
        """Add references to these pages, one for each run."""
        _feed(pages, self._sets, self._stacks, self.depths, self.misses)

    def misses_with(self, ways: Int) -> int:
        """The misses if each set had `ways` translations, at most those given."""
        return int(self.depths[0] + self.depths[ways + 1 :].sum())
