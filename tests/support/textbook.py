"""Policies of textbooks on a reference string: the grader's own FIFO and clock, and LRU."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from tidemark.grade.judge.expected import Decision
from tidemark.grade.judge.textbook import clock, fifo

__all__ = ["clock", "fifo", "lru"]


def lru(pages: Sequence[int], frames: int) -> list[Decision]:
    """Least recently used, too expensive for a kernel, for comparison. The stack begins with the oldest page."""
    stack: OrderedDict[int, None] = OrderedDict()
    made = []
    for page in pages:
        hit, victim, before = page in stack, None, tuple(stack)
        if not hit and len(stack) == frames:
            victim = stack.popitem(last=False)[0]
        stack[page] = None
        stack.move_to_end(page)
        made.append(Decision(page, hit, victim, {"stack": before}))
    return made
