"""CLOCK: the pages form a circle, and a hand goes round. It clears the accessed bit of a page that has been used, and
evicts the first page without one (F. Corbato, A paging experiment with the Multics system, MAC-M-384, 1968)."""

from __future__ import annotations

RELATIVE = "fifo"
DIFFERS = ("1 2 3 1 4 2 1", 3)


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.circle: list[int] = []  # the hand points to the first
        self.used: set[int] = set()

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.circle:
            self.used.add(page)
            return True, []
        gone = [self.take()] if len(self.circle) == self.frames else []
        self.circle.append(page)
        return False, gone

    def take(self) -> int:
        """Evicts a page, and returns it."""
        while (page := self.circle.pop(0)) in self.used:
            self.used.remove(page)
            self.circle.append(page)
        return page
