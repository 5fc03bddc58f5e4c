"""CAR (S. Bansal and D. Modha, CAR: Clock with adaptive replacement, FAST 2004, figure 2): the clocks T1 and T2, the
LRU lists of ghosts B1 and B2, and p, the size that T1 should have. As in the paper, except that p is a whole number."""

from __future__ import annotations

RELATIVE = "arc"
DIFFERS = ("1 2 1 3 4 2 5", 3)
MIXED = True


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.c, self.p = frames, 0
        self.t1: list[int] = []  # the hand points to the first; new pages are inserted behind it: last
        self.t2: list[int] = []
        self.b1: list[int] = []  # the least recent first
        self.b2: list[int] = []
        self.bit: set[int] = set()

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.t1 or page in self.t2:
            self.bit.add(page)
            return True, []
        known = page in self.b1 or page in self.b2
        gone = []
        if len(self.t1) + len(self.t2) == self.c:
            gone = [self.replace()]
            if not known and len(self.t1) + len(self.b1) == self.c:
                self.b1.pop(0)
            elif not known and len(self.t1) + len(self.t2) + len(self.b1) + len(self.b2) == 2 * self.c:
                self.b2.pop(0)
        if not known:
            self.t1.append(page)
            return False, gone
        if page in self.b1:
            self.p = min(self.p + max(1, len(self.b2) // len(self.b1)), self.c)
            self.b1.remove(page)
        else:
            self.p = max(self.p - max(1, len(self.b1) // len(self.b2)), 0)
            self.b2.remove(page)
        self.t2.append(page)
        return False, gone

    def replace(self) -> int:
        """Evicts a page, and returns it."""
        while True:
            clock, ghosts = (self.t1, self.b1) if len(self.t1) >= max(1, self.p) else (self.t2, self.b2)
            page = clock.pop(0)
            if page not in self.bit:
                ghosts.append(page)
                return page
            self.bit.remove(page)
            self.t2.append(page)
