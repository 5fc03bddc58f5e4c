"""Sampled LRU: pages are drawn at random, and the page whose last observed use is oldest, of those drawn and of those
kept from earlier draws, is evicted (K. Psounis and B. Prabhakar, A randomized web-cache replacement scheme, INFOCOM
2001; Redis). A page is observed when it arrives, and when it is a candidate and its accessed bit, which is then
cleared, is set. As many of the drawn pages as have room, the oldest, are kept for the next time.

The random numbers are those of the policy: SplitMix64 over a counter, scaled to the number of pages. The pages have
numbers, and the last page fills the gap of an evicted page.
"""

from __future__ import annotations

from tidemark.strings.refstrings import BY_CALL

RELATIVE = "random"
DIFFERS = ("1-6 1-6 1-6", 4)
MIXED = True
STEP_NS = 300_000
SAMPLE, KEPT, SEED = 16, 16, 1
STEP = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1


def mix64(z: int) -> int:
    """The mixing function of SplitMix64 (Steele, Lea, Flood, 2014)."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return z ^ z >> 31


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int, sample: int = SAMPLE) -> None:
        self.frames, self.sample = frames, sample
        self.kept: list[int] = []
        self.pages: list[int] = []
        self.seen: dict[int, int] = {}  # ns
        self.used: set[int] = set()
        self.mapped: set[int] = set()
        self.now = 0
        self.counter = 0

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        hit, gone = page in self.pages, []
        if not hit:
            if len(self.pages) == self.frames:
                gone = [self.take()]
            self.pages.append(page)
            self.seen[page] = self.now
        elif kind & BY_CALL:  # the kernel learns of it at once
            self.note(page)
        elif page not in self.mapped:  # and of the fault that maps it, which leaves the bit clear
            self.note(page)
            self.used.discard(page)
        else:
            self.used.add(page)
        if not kind & BY_CALL:
            self.mapped.add(page)
        self.now += STEP_NS
        return hit, gone

    def draw(self) -> int:
        """One of the pages, at random."""
        self.counter = self.counter + STEP & WORD
        return self.pages[(mix64(self.counter + (SEED << 32) & WORD) >> 32) * len(self.pages) >> 32]

    def observe(self, page: int) -> None:
        """Reads and clears the page's accessed bit."""
        if page in self.used:
            self.used.remove(page)
            self.note(page)

    def note(self, page: int) -> None:
        """The page was used: it is no longer kept."""
        self.seen[page] = self.now
        self.kept = [other for other in self.kept if other != page]

    def take(self) -> int:
        """Evicts a page, and returns it."""
        drawn = []
        for _ in range(self.sample):
            drawn.append(self.draw())
            self.observe(drawn[-1])
            if drawn[-1] not in self.kept:  # of equally old pages the first stay
                self.kept = sorted([*self.kept, drawn[-1]], key=lambda page: self.seen[page])[:KEPT]
        gone = min(drawn, key=lambda page: self.seen[page])  # the first of them
        for page in list(self.kept):
            if self.seen[page] < self.seen[gone]:
                self.observe(page)
                if page in self.kept:
                    gone = page
                    break
        self.kept = [other for other in self.kept if other != gone]
        self.pages[self.pages.index(gone)] = self.pages[-1]
        self.pages.pop()
        self.mapped.discard(gone)
        return gone
