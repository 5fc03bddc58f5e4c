"""Aging: at every tick, 20 ms, each page's counter of eight bits is shifted right, and the accessed bit enters at the
left. The page with the smallest counter is evicted, among equals the one that arrived first. A page begins as if it had
been used. NFU, in the same section: the bit is added instead, up to 255, and a page begins at 0 (A. Tanenbaum, Modern
Operating Systems, 3.4.7)."""

from __future__ import annotations

RELATIVE = "nru"
DIFFERS = ("1-3 1-3 1 1 1 2 2 2 3 3 3 3 1 1 4-9", 3)
MIXED = True
STEP_NS = 6_000_000
TICK_NS = 20_000_000


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int, nfu: bool = False, step_ns: int = STEP_NS) -> None:
        self.frames, self.nfu, self.step_ns = frames, nfu, step_ns
        self.counters: dict[int, int] = {}  # of the pages, in the order of their arrival
        self.used: set[int] = set()
        self.now = 0
        self.next_tick = TICK_NS

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        hit, gone = page in self.counters, []
        if hit:
            self.used.add(page)
        else:
            if len(self.counters) == self.frames:
                gone = [self.take()]
            self.counters[page] = 0 if self.nfu else 0b10000000
        self.pass_time()
        return hit, gone

    def pass_time(self) -> None:
        """Makes the ticks that are due, between two references."""
        self.now += self.step_ns
        while self.next_tick <= self.now:
            self.next_tick += TICK_NS
            for page, counter in self.counters.items():
                bit = page in self.used
                self.counters[page] = min(counter + bit, 255) if self.nfu else counter // 2 + 128 * bit
            self.used.clear()

    def take(self) -> int:
        """Evicts a page, and returns it."""
        gone = min(self.counters, key=lambda page: self.counters[page])  # the first of them
        del self.counters[gone]
        self.used.discard(gone)
        return gone
