"""Two-handed CLOCK: the front hand clears the accessed bits, and the back hand, some way behind it, evicts the first
page that has not been used since (4.3BSD; M. McKusick and others, The Design and Implementation of the 4.4BSD Operating
System, 1996, section 5.12).

The distance is a share of the pages, at least one page, and at most all but one. A new page is put behind the back
hand. The hands move together; if they are too close, only the front hand moves.
"""

from __future__ import annotations

RELATIVE = "clock"
DIFFERS = ("1-8 1 2 9 1 2 10 1 2 11 3", 8)
MIXED = True
SPREAD = 25  # percent


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int, spread: int = SPREAD) -> None:
        self.frames, self.spread = frames, spread
        self.circle: list[int] = []  # the back hand points to the first
        self.front = 0  # the front hand points to the page with this index
        self.used: set[int] = set()

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.circle:
            self.used.add(page)
            return True, []
        gone = [self.take()] if len(self.circle) == self.frames else []
        self.circle.append(page)
        return False, gone

    def distance(self) -> int:
        """The number of pages that should lie between the hands."""
        return max(1, min(len(self.circle) * self.spread // 100, len(self.circle) - 1))

    def take(self) -> int:
        """Evicts a page, and returns it."""
        while True:
            if self.front < self.distance():
                self.used.discard(self.circle[self.front])
                self.front += 1
            if self.front < self.distance():
                continue
            page = self.circle.pop(0)
            self.front -= 1
            if page not in self.used:
                return page
            self.used.discard(page)
            self.circle.append(page)
