"""NRU: at every tick the accessed bits are cleared. A page is in class 2 R + M: used since the tick, and dirty. From
the lowest class, the page that arrived first is evicted (A. Tanenbaum, Modern Operating Systems, 3.4.2, takes any of
them)."""

from __future__ import annotations

from tidemark.strings.refstrings import LOADS

RELATIVE = "clock"
DIFFERS = ("l1 l2 l3 4 5 l1 l6 l2", 3)
MIXED = True
STEP_NS = 7_000_000
TICK_NS = 100_000_000


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.pages: list[int] = []  # in the order of their arrival
        self.used: set[int] = set()
        self.dirty: set[int] = set()
        self.has_copy: set[int] = set()  # the process's pages with a slot
        self.now = 0
        self.next_tick = TICK_NS

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        hit, gone = page in self.pages, []
        if hit:
            self.used.add(page)
        else:
            if len(self.pages) == self.frames:
                gone = [self.take()]
            self.pages.append(page)
        new = not hit and page >= 0 and page not in self.has_copy
        if new or not kind & LOADS:
            self.dirty.add(page)
        self.pass_time()
        return hit, gone

    def pass_time(self) -> None:
        """Makes the ticks that are due, between two references."""
        self.now += STEP_NS
        while self.next_tick <= self.now:
            self.next_tick += TICK_NS
            self.used.clear()

    def class_of(self, page: int) -> int:
        """The class, 0 to 3."""
        return 2 * (page in self.used) + (page in self.dirty)

    def take(self) -> int:
        """Evicts a page, and returns it."""
        gone = min(self.pages, key=self.class_of)  # the first of them
        self.pages.remove(gone)
        self.used.discard(gone)
        self.dirty.discard(gone)
        if gone >= 0:
            self.has_copy.add(gone)
        return gone
