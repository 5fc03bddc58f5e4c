"""EELRU (Y. Smaragdakis, S. Kaplan, P. Wilson, EELRU: simple and effective adaptive page replacement, SIGMETRICS 1999).
All pages, also evicted ones, are in the order of their last uses; LRU keeps the first M. If more hits between positions
e and l are to be had from evicting at e than LRU has between e and M, pages are evicted at e.

Model sees uses as the kernel does: when a page is about to leave its region, or to be evicted. At most LOOKS entries of
a region move for each page that comes. Paper is the paper's own: it sees each use, and knows each position."""

from __future__ import annotations

EIGHTHS = (1, 4, 8, 10, 12, 16)  # the ends of the regions
EARLY, LATE, LOOKS, MIN_EARLY = (0, 1), (3, 4, 5), 8, 6
RELATIVE = "clock"
DIFFERS = ("1-9 1-9 1-9", 8)
MIXED = True


def edges_of(frames: int) -> list[int]:
    """The positions at which regions end."""
    edges = [frames * eighths // 8 for eighths in EIGHTHS]
    return [min(max(edge, MIN_EARLY), frames) for edge in edges[: LATE[0]]] + edges[LATE[0] :]


class Model:
    """A memory of some frames."""

    def __init__(self, frames: int) -> None:
        self.frames = frames
        self.edges = edges_of(frames)
        self.sizes = [end - start for start, end in zip([0, *self.edges], self.edges)]
        self.pages: list[list[int]] = [[] for _ in self.edges]  # of each region, newest first
        self.ghosts: list[list[int]] = [[] for _ in self.edges]
        self.time: dict[int, int] = {}
        self.used: set[int] = set()
        self.hits = [0] * len(self.edges)
        self.now = self.counted = 0
        self.early: tuple[int, int] | None = None

    def resident(self) -> int:
        """The number of pages in memory."""
        return sum(map(len, self.pages))

    def refer(self, page: int, kind: int) -> tuple[bool, list[int]]:
        """Was the page in memory, and which pages are evicted for it?"""
        if any(page in pages for pages in self.pages):
            self.used.add(page)
            return True, []
        gone = [self.take()] if self.resident() == self.frames else []
        for region, ghosts in enumerate(self.ghosts):
            if page in ghosts:
                ghosts.remove(page)
                self.count(region)
        self.to_front(page)
        if self.resident() + self.frames // 8 >= self.frames:
            self.settle()
        return False, gone

    def to_front(self, page: int) -> None:
        """Makes the page the first in the order."""
        self.now += 1
        self.time[page] = self.now
        self.pages[0].insert(0, page)

    def count(self, region: int) -> None:
        """A hit; after as many as there are frames, old ones count half."""
        if region == 0:
            return
        self.hits[region] += 16
        self.counted += 1
        if self.counted >= self.frames:
            self.counted = 0
            self.hits = [number // 2 for number in self.hits]

    def spare(self, page: int, region: int) -> bool:
        """Moves the page of this region to the front if it was used."""
        if page not in self.used:
            return False
        self.used.remove(page)
        self.pages[region].remove(page)
        if self.early is None:
            self.count(region)
        self.to_front(page)
        return True

    def settle(self) -> None:
        """The oldest entries of regions that are too long go to the next one; behind the last, ghosts are dropped."""
        for region in range(len(self.sizes)):
            for _ in range(LOOKS):
                pages, ghosts = self.pages[region], self.ghosts[region]
                if len(pages) + len(ghosts) <= self.sizes[region]:
                    break
                if region == len(self.sizes) - 1:
                    del ghosts[-1:]
                elif ghosts and (not pages or self.time[ghosts[-1]] < self.time[pages[-1]]):
                    self.ghosts[region + 1].insert(0, ghosts.pop())
                elif not self.spare(pages[-1], region):
                    self.pages[region + 1].insert(0, pages.pop())

    def points(self) -> tuple[int, int] | None:
        """The regions that end at e and at l; None: LRU is better."""
        most, best = 0, None
        for early in EARLY:
            for late in LATE:
                start, end = self.edges[early], self.edges[late]
                if start >= self.frames or end <= self.frames:
                    continue
                kept = sum(self.hits[early + 1 : late + 1]) * (self.frames - start) // (end - start)
                gain = kept - sum(self.hits[early + 1 : LATE[0]])
                if gain > most:
                    most, best = gain, (early, late)
        return best

    def take(self) -> int:
        """Evicts a page, and returns it; its ghost stays at its place."""
        best = self.points()
        self.early = None if best and any(self.pages[best[1] + 1 :]) else best
        while True:
            page, region, early = self.candidate()
            if not self.spare(page, region):
                break
        self.pages[region].remove(page)
        if sum(map(len, self.ghosts)) == self.frames:
            next(ghosts for ghosts in reversed(self.ghosts) if ghosts).pop()
        self.ghosts[region if early else max(region, LATE[0])].insert(0, page)
        return page

    def candidate(self) -> tuple[int, int, bool]:
        """The page to evict unless it was used, its region, and is it beyond e?"""
        if self.early:
            for region in range(self.early[0] + 1, len(self.pages)):
                if self.pages[region]:
                    return self.pages[region][0], region, True
        region = max(region for region, pages in enumerate(self.pages) if pages)
        return self.pages[region][-1], region, False


class Paper:
    """A memory of some frames that sees each use. pairs: without any it is LRU."""

    def __init__(self, frames: int, pairs: bool = True) -> None:
        self.frames = frames
        edges = edges_of(frames)
        both = [(edges[early], edges[late]) for early in EARLY for late in LATE] if pairs else []
        self.pairs = [(early, late) for early, late in both if early < frames < late]
        self.order: list[int] = []  # the last used first
        self.memory: set[int] = set()
        self.hits = [0.0] * (edges[-1] + 1)  # by position, from 1
        self.least, self.counted = edges[EARLY[0]], 0

    def refer(self, page: int) -> bool:
        """Was the page in memory?"""
        hit = page in self.memory
        position = self.order.index(page) + 1 if page in self.order else len(self.hits)
        if self.least < position < len(self.hits):
            self.hits[position] += 1
            self.counted += 1
        if self.counted == self.frames:
            self.counted, self.hits = 0, [number / 2 for number in self.hits]
        if not hit and len(self.memory) == self.frames:
            self.memory.remove(self.victim())
        if page in self.order:
            self.order.remove(page)
        self.order.insert(0, page)
        self.memory.add(page)
        return hit

    def victim(self) -> int:
        """The page after position e, or the last."""
        resident = [(at, page) for at, page in enumerate(self.order, 1) if page in self.memory]
        gains = {pair: self.gain(*pair) for pair in self.pairs}
        best = max(gains, key=lambda pair: gains[pair], default=(0, 0))
        if not self.pairs or gains[best] <= 0 or resident[-1][0] > best[1]:
            return resident[-1][1]
        return next((page for at, page in resident if at > best[0]), resident[-1][1])

    def gain(self, early: int, late: int) -> float:
        """Hits that eviction at position `early` has, and LRU has not."""
        share = (self.frames - early) / (late - early)
        return share * sum(self.hits[early + 1 : late + 1]) - sum(self.hits[early + 1 : self.frames + 1])
