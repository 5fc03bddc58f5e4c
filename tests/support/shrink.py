"""Shortens a failing input as long as it still fails.

`shrink` is ddmin (Zeller and Hildebrandt, Simplifying and isolating failure-inducing input, 2002): it leaves out pieces
of a list, first halves, then smaller and smaller ones, until no single item can be left out. `smaller` does the same
for a number. Both call `fails`, which tries a candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def shrink(items: list[T], fails: Callable[[list[T]], bool]) -> list[T]:
    """Returns a part of `items`, in their order, that fails, and of which no single item can be left out.

    `items` itself is known to fail and is not tried. n items need n² trials at worst, and about log n if one item alone
    causes the failure.
    """
    pieces = 2
    while items:
        size = -(-len(items) // pieces)
        for at in range(0, len(items), size):
            rest = items[:at] + items[at + size :]
            if fails(rest):
                items, pieces = rest, max(pieces - 1, 2)
                break
        else:
            if size == 1:
                break
            pieces = min(2 * pieces, len(items))
    return items


def smaller(value: int, fails: Callable[[int], bool], low: int) -> int:
    """Returns the least number from `low` on that fails, by bisection; `value` is known to fail and is not tried.

    It is the least one if every larger one fails too. Otherwise it fails, and the number below it does not.
    """
    while low < value:
        middle = (low + value) // 2
        if fails(middle):
            value = middle
        else:
            low = middle + 1
    return value
