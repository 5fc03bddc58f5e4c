"""Random: a page is drawn, all with the same probability (L. Belady, IBM Systems Journal 5(2), 1966: RAND).

The random numbers are those of the policy, so that decisions can be compared one by one: SplitMix64 over a counter,
scaled to the number of pages. The pages have numbers, and the last page fills the gap of the drawn one.
"""

from __future__ import annotations

RELATIVE = "fifo"
DIFFERS = ("1-6 1-6 1-6", 4)
MIXED = True
SEED = 1
STEP = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1


def mix64(z: int) -> int:
    """The mixing function of SplitMix64 (Steele, Lea, Flood, 2014)."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return z ^ z >> 31


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.pages: list[int] = []
        self.counter = 0

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if page in self.pages:
            return True, []
        gone = [self.take()] if len(self.pages) == self.frames else []
        self.pages.append(page)
        return False, gone

    def take(self) -> int:
        """Evicts a page, and returns it."""
        self.counter = self.counter + STEP & WORD
        drawn = (mix64(self.counter + (SEED << 32) & WORD) >> 32) * len(self.pages) >> 32
        gone = self.pages[drawn]
        self.pages[drawn] = self.pages[-1]
        self.pages.pop()
        return gone
