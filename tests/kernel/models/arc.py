"""ARC (N. Megiddo and D. Modha, ARC: A self-tuning, low overhead replacement cache, FAST 2003, figure 4): the lists T1
and T2 of pages seen once and more often, their ghosts B1 and B2, and p, the size that T1 should have.

With `sees_all`, as in the paper. Without it, as in a kernel: a use sets a bit, which is seen when its page is the
oldest of its list, and then moves the page to T2; a page is evicted before the incoming page is known, so p adapts
afterwards and that page breaks no ties; p is a whole number. In both, calls that read and write are seen at once.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL

RELATIVE = "car"
DIFFERS = ("1 2 1 3 4 2 5", 3)
MIXED = True


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int, sees_all: bool = False) -> None:
        self.c, self.sees_all = frames, sees_all
        self.p: float = 0
        self.t1: list[int] = []  # the most recent first, here and below
        self.t2: list[int] = []
        self.b1: list[int] = []
        self.b2: list[int] = []
        self.used: set[int] = set()
        self.mapped: set[int] = set()

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        by_call = bool(kind & BY_CALL)
        if page in self.t1 or page in self.t2:
            self.hit(page, by_call)
            return True, []
        gone = self.miss_of_the_paper(page) if self.sees_all else self.miss(page)
        if not by_call:
            self.mapped.add(page)
        return False, gone

    def hit(self, page: int, by_call: bool) -> None:
        """Case I, at once or by a bit."""
        if by_call or self.sees_all:
            self.to_t2(page)
        elif page in self.mapped:
            self.used.add(page)
        else:
            self.used.discard(page)
            self.mapped.add(page)
            self.to_t2(page)

    def to_t2(self, page: int) -> None:
        """Makes it the most recent page of T2."""
        for part in (self.t1, self.t2, self.b1, self.b2):
            if page in part:
                part.remove(page)
        self.t2.insert(0, page)

    def adapt(self, page: int) -> None:
        """Cases II and III."""
        one, two = len(self.b1), len(self.b2)
        if page in self.b1:
            step = max(1, two / one if self.sees_all else two // one)
            self.p = min(self.p + step, self.c)
        else:
            step = max(1, one / two if self.sees_all else one // two)
            self.p = max(self.p - step, 0)

    def replace(self, page: int | None) -> list[int]:
        """REPLACE; without the incoming page, its membership in B2 is unknown."""
        while True:
            over = len(self.t1) > self.p or (page in self.b2 and len(self.t1) == self.p)
            first = (self.t1 and over) or not self.t2
            victim = (self.t1 if first else self.t2)[-1]
            if victim in self.used:
                self.used.remove(victim)
                self.to_t2(victim)
                continue
            (self.t1 if first else self.t2).pop()
            (self.b1 if first else self.b2).insert(0, victim)
            self.mapped.discard(victim)
            return [victim]

    def miss_of_the_paper(self, page: int) -> list[int]:
        """Cases II, III, IV."""
        full = len(self.t1) + len(self.t2) == self.c
        if page in self.b1 or page in self.b2:
            self.adapt(page)
            gone = self.replace(page) if full else []
            self.to_t2(page)
            return gone
        gone = []
        if len(self.t1) + len(self.b1) == self.c:
            if len(self.t1) < self.c:
                self.b1.pop()
                gone = self.replace(page)
            else:
                gone = [self.t1.pop()]
        elif full:
            if len(self.t1) + len(self.t2) + len(self.b1) + len(self.b2) == 2 * self.c:
                self.b2.pop()
            gone = self.replace(page)
        self.t1.insert(0, page)
        return gone

    def miss(self, page: int) -> list[int]:
        """First a page is evicted, then the incoming one is known; if T1 and B1 have c + 1, the oldest ghost is
        dropped."""
        gone = self.replace(None) if len(self.t1) + len(self.t2) == self.c else []
        if page in self.b1 or page in self.b2:
            self.adapt(page)
            self.to_t2(page)
            return gone
        self.t1.insert(0, page)
        if len(self.t1) + len(self.b1) > self.c:
            self.b1.pop()
        elif len(self.t1) + len(self.t2) + len(self.b1) + len(self.b2) > 2 * self.c:
            self.b2.pop()
        return gone
