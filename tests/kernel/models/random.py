"""Random: a page is drawn, each as likely as any other (L. Belady, IBM Systems Journal 5(2), 1966: RAND).

The draws are those of the policy, so that its choices can be compared one by one: SplitMix64 over a counter, scaled to
the number of pages; and the pages have numbers, of which the last fills the gap that the drawn one leaves.
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
        """Was it in memory? And which pages leave for it."""
        if page in self.pages:
            return True, []
        gone = [self.take()] if len(self.pages) == self.frames else []
        self.pages.append(page)
        return False, gone

    def take(self) -> int:
        """The page that leaves."""
        self.counter = self.counter + STEP & WORD
        drawn = (mix64(self.counter + (SEED << 32) & WORD) >> 32) * len(self.pages) >> 32
        gone = self.pages[drawn]
        self.pages[drawn] = self.pages[-1]
        self.pages.pop()
        return gone
